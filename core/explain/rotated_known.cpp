// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rotated_known.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digits.hpp"
#include "core/explain/arrangement.hpp"
#include "core/explain/layer_part.hpp"
#include "core/explain/matching.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostElements = 33'554'432;
constexpr double kPenaltyRotated = 2;
constexpr double kFitsAt = 30;  ///< times that it must leave less than the error

/// Whether the names differ in one dotted part alone, which is no number: `self_attn.k_proj.weight`
/// and `.v_proj.`.
bool stand_beside(std::string_view one, std::string_view other) {
  const auto first = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const auto part_of = [&](std::string_view name) {
    const std::size_t dot = first == 0 ? name.npos : name.rfind('.', first - 1);
    const std::size_t begin = dot == name.npos ? 0 : dot + 1;
    return name.substr(begin, std::min(name.find('.', first), name.size()) - begin);
  };
  const std::string_view left = part_of(one), right = part_of(other);
  if (left.empty() || right.empty() || is_digit(left.front())) return false;
  return one.substr(static_cast<std::size_t>(left.end() - one.begin())) ==
         other.substr(static_cast<std::size_t>(right.end() - other.begin()));
}

bool is_of_attention(std::string_view name) {
  const LayerPart part = layer_part_of(name);
  return part == LayerPart::rotary || part == LayerPart::heads;
}

/// The part of both that rotates gave the order.
bool is_rotated(const std::vector<std::int64_t>& from, const std::string& own,
                const std::string& other, const Numbers* numbers) {
  const std::string& keys = layer_part_of(own) == LayerPart::rotary ? own : other;
  return arrangement_of({from, keys, numbers, 0}).name == "rope-halves";
}

}  // namespace

std::optional<Explanation> rotated_known(const Subject& subject, const Survey& seen) {
  const Tensor& reference = *subject.pair.reference;
  const std::string& own = subject.result->identity.name;
  const Metrics& metrics = subject.metrics();
  if (reference.shape.size() != 2 || element_count(reference.shape) > kMostElements) return {};
  if (metrics.non_finite_disagree > 0 || seen.sum_a2 <= 0 || !is_of_attention(own)) return {};
  std::optional<std::vector<Sketches>> candidate;
  for (const Known& other : subject.known) {
    const std::string& name = other.tensor->identity.name;
    if (other.same_side || other.earlier || !stand_beside(own, name) || !is_of_attention(name)) {
      continue;
    }
    if (!candidate) candidate = sketches_of(*subject.pair.candidate, subject.pair.candidate_map);
    const auto known = sketches_of(*other.tensor, nullptr);
    const auto from = matching(known[0], (*candidate)[0], subject.noise);
    if (!from || !is_rotated(*from, own, name, subject.numbers)) continue;
    const double residual = std::sqrt(left2(known[0], (*candidate)[0], *from) / seen.sum_a2);
    if (!(residual <= metrics.rel() / kFitsAt)) continue;
    Explanation found;
    found.code = Code::name_mapping;
    found.penalty = kPenaltyRotated;
    found.hypothesis = {
        "residual", {{"equals", other.words}, {"arrangement", "rope-halves"}}, residual};
    found.words = fmt::format(
        "it is {}, under another name, its heads reordered as rotary keys are (rope-halves)",
        other.words);
    return found;
  }
  return std::nullopt;
}

}  // namespace ttcheck::explain
