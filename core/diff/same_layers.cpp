// SPDX-License-Identifier: Apache-2.0
#include "core/diff/same_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/name_map.hpp"
#include "core/model/name_number.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::int64_t kLeastElements = 8;  ///< of a matrix
constexpr std::int64_t kLeastMatrices = 4;  ///< fewer may be alike by chance, as tied ones are

/// Matrices of one name but for the layer's number.
struct Group {
  double norm = 0;  ///< squared, of the first
  std::int64_t count = 0;
  std::string first;
};

/// `layers.#.mlp.weight` of `layers.7.mlp.weight`; empty where no part is a number.
std::string without_layer(const std::string& name) {
  const auto around = around_first_number(name);
  if (!around) return "";
  std::string pattern(around->before);
  return pattern.append("#").append(around->rest);
}

class Layers {
 public:
  void add(const Tensor& tensor, double norm) {
    if (differ_) return;
    if (tensor.kind != Kind::weight || tensor.shape.size() < 2) return;
    std::string name = without_layer(tensor.identity.name);
    if (name.empty()) return;
    const auto [place, fresh] = groups_.try_emplace(std::move(name));
    Group& group = place->second;
    if (fresh) group.norm = norm, group.first = tensor.identity.name;
    differ_ = group.norm != norm;
    ++group.count;
  }

  std::optional<Finding> finding(std::string_view side, std::optional<std::int64_t> step) const {
    if (differ_) return std::nullopt;
    std::int64_t count = 0;
    const Group* first = nullptr;
    for (const auto& [name, group] : groups_) {
      if (group.count < 2) continue;
      if (first == nullptr || group.first < first->first) first = &group;
      count += group.count;
    }
    if (count < kLeastMatrices) return std::nullopt;
    Finding found = verdict::note(
        Code::degenerate, step,
        fmt::format("all layers of the {} are the same: {} matrices have the norm of the first's",
                    side, count));
    found.severity = Severity::warning;
    found.tensor = first->first;
    return found;
  }

 private:
  NameMap<Group> groups_;
  bool differ_ = false;  ///< the matrices of a group: nothing more can follow
};

}  // namespace

std::vector<Finding> same_layers(std::span<const compare::Pair> pairs,
                                 std::span<const compare::Compared> compared,
                                 std::optional<std::int64_t> step) {
  Layers reference, candidate;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Metrics& metrics = compared[i].metrics;
    if (!compared[i].whole() || metrics.count < kLeastElements) continue;
    reference.add(*pairs[i].reference, metrics.sum_a2);
    candidate.add(*pairs[i].candidate, metrics.sum_b2);
  }
  std::vector<Finding> findings;
  if (auto found = reference.finding("reference", step)) findings.push_back(*std::move(found));
  if (auto found = candidate.finding("candidate", step)) findings.push_back(*std::move(found));
  return findings;
}

}  // namespace ttcheck::diff
