// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/model/turned_bit.hpp"
#include "core/recompute/bound_calls.hpp"
#include "core/recompute/evaluate.hpp"
#include "core/recompute/ops.hpp"
#include "core/recompute/reasons.hpp"

namespace ttcheck::recompute {
namespace {

constexpr double kRecordBudget = 1e8;   // multiplications for one record of one side
constexpr double kStepBudget = 1e10;    // for all of them
constexpr double kLeast = 5e6;          // for each one more: cheap ops are always recomputed
constexpr std::size_t kMostRanks = 16;  // whose own copies are told apart
constexpr std::size_t kMostRanksNamed = 64;
constexpr std::int64_t kProbe = 2;  // ranges that rule a way out
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

constexpr double kRow = 2;
constexpr double kOutlier = 4;

// An op is cleared where it comes as near to what was recomputed as the reference does to its own,
// or near; between that and its limit nothing is said.
constexpr double kAsNear = 3;
constexpr double kNear = 0.02;

// From which part of its limit on, and how often what the reference is off, an op is clearly wrong.
constexpr double kClear = 0.4;
constexpr double kClearly = 8;

double value_at(const Formula& formula, std::int64_t index, std::int64_t count) {
  const std::int64_t begin = index / formula.granule * formula.granule;
  std::vector<double> values(static_cast<std::size_t>(std::min(formula.granule, count - begin)));
  formula.fill(begin, values);
  return values[static_cast<std::size_t>(index - begin)];
}

/// How far beyond its limit, by the test that decides.
struct Judged {
  double ratio = 0, error = 0, limit = 0;
  std::int64_t index = -1;
  bool sampled = false;

  bool beyond() const { return ratio > 1; }
};

/// `by_size`: elements are held to their own sizes as well.
Judged judged(const Mismatch& mismatch, double limit, bool by_size) {
  Judged worst;
  const auto test = [&](double error, double most) {
    const double ratio = error / most;
    if (ratio > worst.ratio) worst = {ratio, error, most};
  };
  test(mismatch.rel(), limit);
  test(mismatch.row(), kRow * limit);
  test(mismatch.outlier(), kOutlier * limit);
  worst.index = mismatch.worst();
  const double before = worst.ratio;
  if (by_size) test(mismatch.share(), kOutlier * limit);
  if (worst.ratio > before) worst.index = mismatch.worst_share();
  if (worst.limit == 0) worst.limit = limit;
  return worst;
}

std::vector<const Tensor*> tensors_of(const std::vector<Maker>& makers) {
  std::vector<const Tensor*> all;
  for (const Maker& maker : makers) {
    all.insert(all.end(), maker.arguments.begin(), maker.arguments.end());
    all.insert(all.end(), maker.gradients.begin(), maker.gradients.end());
    all.push_back(maker.weight);
    all.push_back(maker.bias);
  }
  std::erase(all, nullptr);
  return all;
}

/// Elements that each rank holds.
std::map<std::int32_t, Part> parts_of(const Tensor& tensor) {
  std::map<std::int32_t, Part> parts;
  const auto add = [&](const Piece& piece) {
    if (piece.rank < 0) return;
    Part& boxes = parts[piece.rank];
    if (piece.cells.empty()) boxes.push_back(whole(tensor.shape));
    for (const Cell& cell : piece.cells) boxes.push_back(cell.box);
  };
  std::ranges::for_each(tensor.pieces, add);
  std::ranges::for_each(tensor.replicas, add);
  return parts;
}

/// One side of a record under test.
class OpTest {
 public:
  using Apart = std::map<const Tensor*, bool>;

  OpTest(const Tensor& target, const Graph& graph, std::int64_t worst,
         const std::function<bool()>& stop, double& budget)
      : target_(target),
        makers_(graph.makers_of(target)),
        worst_(worst),
        stop_(stop),
        budget_(budget) {}

  /// REQUIRES makers. `known`: of which tensors copies differ; what is not known yet is added.
  bool bind(Apart& known) {
    for (const Tensor* one : tensors_of(makers_)) {
      const auto [at, fresh] = known.try_emplace(one, false);
      if (fresh) at->second = Operand::readable(*one) && copies_differ(*one);
      apart_ = apart_ || at->second;
    }
    if (!apart_) {
      sides_.emplace_back(target_, makers_, std::nullopt);
    } else {
      parts_ = parts_of(target_);
      if (parts_.empty() || parts_.size() > kMostRanks) return false;
      for (const auto& [rank, part] : parts_) sides_.emplace_back(target_, makers_, rank);
    }
    return std::ranges::all_of(sides_, [](BoundCalls& side) { return side.bind(); });
  }

  const Tensor& target() const { return target_; }
  const BoundCalls& side() const { return sides_.front(); }
  const std::vector<Maker>& makers() const { return makers_; }

  /// From now on its limits count as so much of what they are.
  void hold_to(double part) { part_of_limit_ = part; }

  /// From now on elements are held to their own sizes as well.
  void hold_by_size() { by_size_ = true; }

  /// What a test reads at least: all elements, copies too.
  double elements() const {
    double all = static_cast<double>(target_.pieces.empty() ? 0 : element_count(target_.shape));
    for (const Tensor* one : tensors_of(makers_)) {
      const auto copies = static_cast<double>(one->replicas.empty() ? 1 : 2);
      all += copies * static_cast<double>(element_count(one->shape));
    }
    return all;
  }

  /// The number of ways; `calls` give attributes, or null.
  std::size_t count(const std::vector<Call>* stated) const {
    return sides_.front().ways(calls_of(sides_.front(), stated)).size();
  }

  /// Nothing where it is too large, or its numbers are. With `ranks`, those of wrong parts are put
  /// there.
  std::optional<Judged> run(std::size_t way, const std::vector<Call>* stated, std::int64_t most,
                            std::vector<std::int32_t>* ranks) {
    Judged worst;
    auto part = parts_.begin();
    for (const BoundCalls& side : sides_) {
      const std::vector<Call> calls = calls_of(side, stated);
      const Formulas ways = side.ways(calls);
      if (way >= ways.size()) return std::nullopt;
      std::vector<Part> parts;
      if (apart_) parts.push_back(part->second);
      const auto found = run_side(side, ways[way], most, parts);
      if (!found) return std::nullopt;
      const bool wrong = found->front().beyond();
      if (ranks != nullptr && apart_ && wrong) ranks->push_back(part->first);
      if (ranks != nullptr && !apart_ && wrong) name_ranks(side, ways[way], most, *ranks);
      if (found->front().ratio >= worst.ratio) worst = found->front();
      if (apart_) ++part;
    }
    return worst;
  }

  /// The one bit of that element that is all that is wrong: the others are right, and so is this
  /// one with the bit turned back. Nothing where more is wrong.
  std::optional<int> bit_turned_at(std::int64_t index, std::size_t way,
                                   const std::vector<Call>* stated) {
    const BoundCalls& side = sides_.front();
    if (apart_) return std::nullopt;
    without_ = index;
    const auto rest = run(way, stated, kAll, nullptr);
    without_ = -1;
    if (!rest || rest->beyond() || rest->sampled) return std::nullopt;
    const std::vector<Call> calls = calls_of(side, stated);
    const Formula formula = side.ways(calls)[way];
    const double expected = value_at(formula, index, side.dumped().count());
    double stored = 0;
    side.dumped().read(index, {&stored, 1});
    const double allowed = side.limit(formula) * std::fabs(expected);
    const TurnedBit turned = turned_bit(side.dumped().dtype(), stored, expected);
    const bool clearly = !(std::fabs(stored - expected) < kClearly * allowed);
    if (turned.bit < 0 || turned.left > allowed || !clearly) return std::nullopt;
    return turned.bit;
  }

 private:
  /// The side's own calls, with the attributes of `stated` where that names the same ops.
  static std::vector<Call> calls_of(const BoundCalls& side, const std::vector<Call>* stated) {
    std::vector<Call> calls = side.calls();
    if (stated == nullptr || stated->size() != calls.size()) return calls;
    for (std::size_t n = 0; n < calls.size(); ++n) {
      if ((*stated)[n].op == calls[n].op) calls[n].attributes = (*stated)[n].attributes;
    }
    return calls;
  }

  std::optional<std::vector<Judged>> run_side(const BoundCalls& side, const Formula& formula,
                                              std::int64_t most, std::span<const Part> parts) {
    const std::int64_t count = side.dumped().count();
    const double budget = std::min(kRecordBudget, std::max(budget_, kLeast));
    auto ranges = ranges_of(formula, count, budget, worst_, most);
    if (!ranges) return std::nullopt;
    ranges->without = without_;
    const double made =
        static_cast<double>(ranges->size) * static_cast<double>(ranges->numbers.size());
    budget_ -= formula.cost * std::min(made, static_cast<double>(count));
    std::vector<Judged> all;
    for (const Mismatch& one : evaluate(formula, side.dumped(), *ranges, parts, stop_)) {
      if (!one.measured()) return std::nullopt;
      const double limit = part_of_limit_ * side.limit(formula);
      all.push_back(judged(one, limit, by_size_));
      all.back().sampled = !ranges->all;
    }
    return all;
  }

  void name_ranks(const BoundCalls& side, const Formula& formula, std::int64_t most,
                  std::vector<std::int32_t>& ranks) {
    std::vector<Part> parts;
    std::vector<std::int32_t> names;
    for (auto& [rank, part] : parts_of(target_)) {
      names.push_back(rank);
      parts.push_back(std::move(part));
    }
    if (parts.empty() || parts.size() > kMostRanksNamed) return;
    const auto found = run_side(side, formula, most, parts);
    if (!found) return;
    for (std::size_t n = 0; n < names.size(); ++n) {
      if ((*found)[n].beyond()) ranks.push_back(names[n]);
    }
  }

  const Tensor& target_;
  std::vector<Maker> makers_;
  std::int64_t worst_;
  const std::function<bool()>& stop_;
  double& budget_;
  std::int64_t without_ = -1;  ///< an element that is taken to be right
  double part_of_limit_ = 1;
  bool by_size_ = false;
  bool apart_ = false;  ///< copies of an operand differ, so each rank is put to the test by itself
  std::deque<BoundCalls> sides_;
  std::map<std::int32_t, Part> parts_;
};

/// The way in which the reference's own record follows from its inputs.
struct Fit {
  std::size_t way;
  double ratio;
};

std::optional<Fit> fit_of(OpTest& reference, std::size_t ways) {
  for (std::size_t way = 0; way < ways; ++way) {
    const auto probe = reference.run(way, nullptr, kProbe, nullptr);
    if (!probe) return std::nullopt;
    if (probe->beyond()) continue;
    const auto all = reference.run(way, nullptr, kAll, nullptr);
    if (all && !all->beyond()) return Fit{way, all->ratio};
  }
  return std::nullopt;
}

/// What was tested and how near it came.
void describe(const Judged& judged, const std::vector<Maker>& makers, Recomputed& found) {
  found.op = words_of(makers);
  found.error = judged.error;
  found.limit = judged.limit;
  found.index = judged.index;
  found.sampled = judged.sampled;
  for (const Tensor* one : tensors_of(makers)) found.inputs.push_back(one->identity);
}

/// Holds elements to their own sizes as well, where the reference's are right to theirs. How near
/// the reference comes then.
double hold_by_size(OpTest& reference, OpTest& candidate, const Fit& fit) {
  if (!held_by_size(reference.target()) || !held_by_size(candidate.target())) return fit.ratio;
  reference.hold_by_size();
  const auto held = reference.run(fit.way, nullptr, kAll, nullptr);
  if (!held || held->beyond()) return fit.ratio;
  candidate.hold_by_size();
  return held->ratio;
}

}  // namespace

Recompute::Recompute(const Graph& reference, const Graph& candidate, std::function<bool()> stop,
                     std::optional<double> budget)
    : reference_(reference),
      candidate_(candidate),
      stop_(std::move(stop)),
      budget_(budget.value_or(kStepBudget)),
      strict_(budget.has_value()) {}

Recomputed Recompute::judge(const Tensor& reference, const Tensor& candidate, std::int64_t worst) {
  Recomputed found;
  if (stop_ && stop_()) return found;
  const auto unknown = [&](std::string reason) {
    Recomputed none;
    none.reason = std::move(reason);
    none.remark = stated_apart(reference, candidate);
    return none;
  };
  try {
    OpTest left(reference, reference_, worst, stop_, budget_);
    OpTest right(candidate, candidate_, worst, stop_, budget_);
    for (const OpTest* test : {&left, &right}) {
      if (test->makers().empty()) return unknown(without_maker(test->target()));
    }
    if (strict_) budget_ -= left.elements() + right.elements();
    if (strict_ && budget_ <= 0) return unknown("");
    if (lacks_weight(left.makers()) || !left.bind(apart_) || !right.bind(apart_))
      return unknown(unbound(left.makers(), right.makers()));
    const std::vector<Call>* const stated = &left.side().calls();
    const std::string op = words_of(left.makers());
    const std::size_t ways = left.count(nullptr);
    if (ways == 0) return unknown(fmt::format("not all that went into {} was dumped", op));
    if (right.count(stated) != ways) {
      return unknown(fmt::format("what went into {} was dumped in another form", op));
    }
    const auto fit = fit_of(left, ways);
    if (!fit) {
      return unknown(fmt::format("the reference's own is not what {} gives of its inputs", op));
    }
    const double near = hold_by_size(left, right, *fit);
    auto judged = right.run(fit->way, stated, kAll, &found.ranks);
    if (!judged) return unknown(fmt::format("{} is too large", op));
    const double allowed = std::max(kClear, kClearly * near);
    found.clear = judged->ratio > allowed;
    if (found.clear && !judged->beyond()) {
      right.hold_to(allowed);
      judged = right.run(fit->way, stated, kAll, &found.ranks);
      if (!judged) return unknown(fmt::format("{} is too large", op));
    }
    if (judged->beyond() && (found.clear || judged->ratio > kAsNear * near)) {
      found.state = Recomputed::State::wrong;
      found.remark = remark_of(left.makers(), right.makers());
      found.turned_bit = right.bit_turned_at(judged->index, fit->way, stated);
    } else if (judged->ratio <= std::min(1.0, kAsNear * near + kNear)) {
      found.state = Recomputed::State::right;
    } else {
      return unknown(
          fmt::format("{} is right within {:.3g}, too coarse to tell", op, judged->limit));
    }
    describe(*judged, right.makers(), found);
    return found;
  } catch (const Error&) {  // stopped, or no longer readable: the result stands as it is
    return {};
  }
}

bool held_by_size(const Tensor& record) {
  if (record.kind != Kind::output || !record.trace) return false;
  const Op* const op = find_op(record.trace->op);
  return op != nullptr && op->by_size && epsilon(record.dtype) > epsilon(DType::f32);
}

double least_clear(DType output) {
  const double eps = epsilon(output);
  const bool narrow = eps > epsilon(DType::f32);
  return kClear * eps *
         ((narrow ? kNarrowRounding : kAccumulate) + 1);  // one rounding, one addition
}

}  // namespace ttcheck::recompute
