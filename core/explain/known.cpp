// SPDX-License-Identifier: Apache-2.0
#include "core/explain/known.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digits.hpp"
#include "core/compare/ranges.hpp"
#include "core/explain/offset.hpp"
#include "core/explain/values.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kPrefix = 4096;
constexpr double kPrefixSlack = 16;  ///< a prefix may fit worse than the whole
constexpr double kBlank = 4;   ///< times less than what so many elements differ by on the whole
constexpr double kTold = 0.9;  ///< of the prefix's error, what another tensor must not leave
constexpr double kPenaltySame = 1.2, kPenaltyWhole = 2, kPenaltyUnchanged = 4, kPenaltyAny = 8;
constexpr std::int64_t kLeastCount = 3;  ///< fewer elements fit anything

/// Sums over elements, d = B - A and X the known tensor.
struct ProductSums {
  double a2 = 0, d2 = 0, dx = 0, x2 = 0, bx2 = 0;
  double mark = 0;     ///< the value that X has where it is not zero
  bool a_mask = true;  ///< it has no other

  bool tell() const { return a2 > 0 && x2 > 0 && std::isfinite(a2 + d2 + dx * dx + x2 + bx2); }
  double factor() const { return dx / x2; }
  double left2() const {  // of zeros all of it
    return std::max(0.0, d2 - dx * dx / std::max(x2, std::numeric_limits<double>::min()));
  }
  /// |B - X| and |d - kX|, over |A|.
  double as_same() const { return std::sqrt(bx2 / a2); }
  double as_residual() const { return std::sqrt(left2() / a2); }
};

/// A pair and, of other tensors, what the same elements hold.
class Beside {
 public:
  /// `prefix`: elements that are read once for all of them.
  Beside(const compare::Pair& pair, std::int64_t prefix) : pair_(pair) {
    visit_pair(pair, prefix,
               [&](std::int64_t, std::span<const double> a, std::span<const double> b) {
                 a_.insert(a_.end(), a.begin(), a.end());
                 b_.insert(b_.end(), b.begin(), b.end());
               });
  }

  ProductSums prefix_sums(const Tensor& other) {
    ProductSums sums;
    add(other, 0, a_, b_, sums);
    return sums;
  }

  ProductSums sums(const Tensor& other) {
    ProductSums sums;
    visit_pair(pair_, element_count(pair_.reference->shape),
               [&](std::int64_t begin, std::span<const double> a, std::span<const double> b) {
                 add(other, begin, a, b, sums);
               });
    return sums;
  }

 private:
  void add(const Tensor& other, std::int64_t begin, std::span<const double> a,
           std::span<const double> b, ProductSums& sums) {
    x_.resize(a.size());
    read_values(other, nullptr, begin, x_);
    const auto end = begin + std::ssize(a);
    for (const LinearRange& hole : compare::holes_of(pair_, begin, end)) {
      std::fill(x_.begin() + (hole.begin - begin), x_.begin() + (hole.end - begin), 0.0);
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double d = b[i] - a[i], x = x_[i];
      if (!std::isfinite(d) || !std::isfinite(x)) continue;
      sums.a2 += a[i] * a[i];
      sums.d2 += d * d;
      sums.dx += d * x;
      sums.x2 += x * x;
      sums.bx2 += (b[i] - x) * (b[i] - x);
      if (x == 0) continue;
      if (sums.mark == 0) sums.mark = x;
      sums.a_mask = sums.a_mask && x == sums.mark;
    }
  }

  const compare::Pair& pair_;
  std::vector<double> a_, b_, x_;
};

/// The part before the one whose digits alone the names differ in.
std::optional<std::string> differing_part(std::string_view a, std::string_view b) {
  const std::size_t from = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  std::size_t begin = from;
  while (begin > 0 && is_digit(a[begin - 1])) --begin;
  std::size_t end_a = begin, end_b = begin;
  while (end_a < a.size() && is_digit(a[end_a])) ++end_a;
  while (end_b < b.size() && is_digit(b[end_b])) ++end_b;
  if (end_a == begin || end_b == begin || a.substr(end_a) != b.substr(end_b)) return std::nullopt;
  std::string_view before = a.substr(0, begin);
  if (before.empty()) return "";
  // w1 and w3 are two projections; a number that is a part by itself counts.
  if (before.back() != '.') return std::nullopt;
  before.remove_suffix(1);
  return std::string(before.substr(before.rfind('.') + 1));  // behind npos is all of it
}

Explanation same_as(const Subject& subject, const Known& other, double residual) {
  Explanation found;
  found.penalty = kPenaltySame;
  found.hypothesis = {"residual", {{"equals", other.words}}, residual};
  const std::string& own = subject.result->identity.name;
  if (other.earlier && other.tensor->identity.phase == Phase::state) {
    found.code = Code::stale_replica;
    found.words = fmt::format("it still is what it was before the update: {}", other.words);
    return found;
  }
  if (other.earlier) {  // of this step: whatever makes the difference, a factor, says more
    found.code = Code::residual_is;
    found.penalty = kPenaltyUnchanged;
    found.words = fmt::format("it still is what it was earlier: {}", other.words);
    return found;
  }
  const auto part = differing_part(own, other.tensor->identity.name);
  if (part && part->find("expert") != std::string::npos) {
    found.code = Code::permutation;
    found.hypothesis.name = "experts";
    found.words = fmt::format("it is another expert's: {}", other.words);
  } else if (part) {
    found.code = Code::layer_mapping;
    found.hypothesis.name = "layers";
    found.words = fmt::format("it is another layer's: {}", other.words);
  } else {
    found.code = Code::name_mapping;
    found.words = fmt::format("it is {}, under another name", other.words);
  }
  return found;
}

Explanation residual_is(const Known& other, double k, double noise, double residual) {
  const double whole = std::round(k);
  const bool is_whole = std::fabs(k - whole) <= std::max(0.01, 4 * noise) * std::fabs(whole);
  const double factor = is_whole ? whole : k;
  const std::string equals =
      factor == 1 ? other.words
                  : fmt::format("{}{} x {}", factor < 0 ? "-" : "",
                                fmt::format("{:.4g}", std::fabs(factor)), other.words);
  Explanation found;
  found.code = Code::residual_is;
  found.hypothesis = {"residual", {{"equals", equals}}, residual};
  found.penalty = is_whole ? kPenaltyWhole : kPenaltyAny;
  found.words = fmt::format("candidate - reference is {}", equals);
  return found;
}

/// A multiple of what is one number or zero everywhere is a constant, added where a mask lets it.
Explanation offset_under(const Known& mask, double c, const Subject& subject, double residual) {
  Explanation found;
  found.code = Code::offset;
  found.penalty = kPenaltyAny;
  found.hypothesis = {"offset", {{"c", c}}, residual};
  const std::string log = logarithm_of(c, subject);
  found.words = fmt::format("the candidate is the reference + {:.6g}{} where {} is not zero", c,
                            log.empty() ? "" : " = " + log, mask.words);
  return found;
}

/// Values of one op are no other op's under a wrong name; parameters may be.
bool may_be_renamed(const Subject& subject) {
  const Phase phase = subject.result->identity.phase;
  return phase == Phase::none || phase == Phase::state;
}

bool is_master_of(std::string_view master, std::string_view weight) {
  constexpr std::string_view kMaster = "@master";
  return master.size() == weight.size() + kMaster.size() && master.starts_with(weight) &&
         master.ends_with(kMaster);
}

/// A weight and its master are alike anyway.
bool are_weight_and_master(std::string_view one, std::string_view other) {
  return is_master_of(one, other) || is_master_of(other, one);
}

void keep_better(std::optional<Explanation>& best, Explanation&& one) {
  const auto score = [](const Explanation& it) { return it.hypothesis.residual * it.penalty; };
  if (!best || score(one) < score(*best)) best = std::move(one);
}

}  // namespace

std::vector<Explanation> known(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  if (metrics.count < kLeastCount || metrics.non_finite_disagree > 0) return {};
  if (subject.known.empty()) return {};
  const std::int64_t count = element_count(subject.pair.reference->shape);
  const double allowed = subject.allowed();
  const std::int64_t prefix = std::min(count, kPrefix);
  // What so many elements come to: the reference may begin with zeros, as an embedding's padding.
  const double usual2 = seen.sum_a2 * static_cast<double>(prefix) / static_cast<double>(count);
  const double share2 = seen.sum_d2 * static_cast<double>(prefix) / static_cast<double>(count);
  // Where most elements that are not zero are right, tensors that are alike (tied ones) would all
  // seem to be it. Zeros are no tensor's in particular.
  const std::int64_t filled = std::max(seen.reference_grain.count(), seen.candidate_grain.count());
  const bool other_values = 2 * metrics.unequal_values >= filled && metrics.sum_b2 > 0;
  std::optional<Explanation> same, residual;
  Beside beside(subject.pair, prefix);
  for (const Known& other : subject.known) {
    ProductSums sums = beside.prefix_sums(*other.tensor);
    const double left2 = std::min(sums.bx2, sums.left2());
    const double most2 = allowed * allowed * std::max(sums.a2, usual2);
    // The prefix is right, by far less than its share of what differs, and tells nothing.
    const bool blank = sums.d2 <= std::min(most2, share2 / kBlank);
    const bool told = left2 <= kTold * kTold * sums.d2;
    if (!blank && (!told || left2 > kPrefixSlack * kPrefixSlack * most2)) continue;
    if (count > prefix) sums = beside.sums(*other.tensor);
    if (!sums.tell()) continue;
    if (sums.as_same() <= allowed && (other.earlier || may_be_renamed(subject))) {
      const std::string& name = subject.result->identity.name;
      if (!other_values || are_weight_and_master(name, other.tensor->identity.name)) continue;
      keep_better(same, same_as(subject, other, sums.as_same()));
    } else if (const double left = sums.as_residual(); left <= allowed) {
      keep_better(residual, sums.a_mask
                                ? offset_under(other, sums.factor() * sums.mark, subject, left)
                                : residual_is(other, sums.factor(), subject.noise, left));
    }
  }
  std::vector<Explanation> found;
  if (same) found.push_back(std::move(*same));
  if (residual) found.push_back(std::move(*residual));
  return found;
}

}  // namespace ttcheck::explain
