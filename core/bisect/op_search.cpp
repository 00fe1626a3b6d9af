// SPDX-License-Identifier: Apache-2.0
// A difference that came about in forward, loss or backward shows in the outputs of all blocks
// behind it, so that the first bad block is found by halving, and the first bad record by looking
// through that block in order. What flows nowhere (gradients that were summed, the optimizer) is
// looked through in order when no chain is bad, and then everything else: that nothing is bad is
// said only of what was looked at, and as `diff` would. The records of the op that was found, and
// those it consumes, are looked at wherever they are: its parameter may have been wrong from the
// start. The batch and, once one parameter is bad, all of them decide whether the runs can be
// compared at all.

#include "core/bisect/op_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/interrupted.hpp"
#include "core/diff/judge_pairs.hpp"

namespace ttcheck::bisect {
namespace {

constexpr std::size_t kAtOnce = 4;  ///< records of a block looked at in one go

}  // namespace

OpSearch::OpSearch(diff::MetStep& met, diff::DiffContext& context, Verdict& verdict)
    : context_(context), verdict_(verdict), met_(met), work_(met.work) {
  const std::int64_t passes = end_of_passes();
  for (const compare::Pair& pair : work_.pairs) {
    const Tensor& tensor = *pair.reference;
    const bool behind = is_counted(tensor) && tensor.trace->seq > passes;
    records_.push_back({&tensor.identity, tensor.kind, behind});
  }
  outcomes_.resize(work_.pairs.size());
}

std::optional<std::size_t> OpSearch::run() {
  look_at_batch();
  std::optional<std::size_t> bad = in_chains();
  if (!bad) bad = elsewhere();
  while (bad) {
    const auto earlier = of_its_op(*bad);
    if (!earlier) break;
    bad = earlier;
  }
  if (bad && is_parameter(*bad)) look_at_all([this](std::size_t i) { return is_parameter(i); });
  if (bad) look_at_module_of(*bad);
  return bad;
}

std::size_t OpSearch::looked() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(outcomes_, [](const auto& outcome) { return outcome.has_value(); }));
}

void OpSearch::look_at_rest() {
  look_at_all([](std::size_t) { return true; });
}

std::optional<std::size_t> OpSearch::place_of(const TensorResult& result) const {
  const compare::Pair* const pair = met_.compared(result);
  if (pair == nullptr) return std::nullopt;
  return static_cast<std::size_t>(pair - work_.pairs.data());
}

bool OpSearch::name_bad(const std::optional<std::size_t>& bad, Search& search) const {
  if (!bad) return false;
  search.first_bad_op = std::string(module_of(identity(*bad)));
  for (std::size_t i = *bad; i-- > 0;) {
    if (!outcomes_[i] || *outcomes_[i] == Outcome::diverged) continue;
    search.last_good_op = std::string(module_of(identity(i)));
    break;
  }
  return true;
}

std::uint64_t OpSearch::bytes() const {
  std::uint64_t bytes = 0;
  for (const compare::Pair& pair : work_.pairs) {
    bytes += logical_bytes(*pair.reference) + logical_bytes(*pair.candidate);
  }
  return bytes;
}

/// The last record of backward in a dump of calls: an optimizer's are not told from a model's by
/// their names.
std::int64_t OpSearch::end_of_passes() const {
  std::int64_t last = -1;
  for (const compare::Pair& pair : work_.pairs) {
    const Tensor& tensor = *pair.reference;
    if (!is_counted(tensor) || tensor.identity.phase != Phase::backward) continue;
    last = std::max(last, tensor.trace->seq);
  }
  return last < 0 ? std::numeric_limits<std::int64_t>::max() : last;
}

bool OpSearch::is_parameter(std::size_t i) const {
  return identity(i).phase == Phase::state && ttcheck::is_parameter(records_[i].kind);
}

/// Compares those that were not looked at yet.
void OpSearch::look(std::span<const std::size_t> wanted) {
  std::vector<std::size_t> fresh;
  for (const std::size_t i : wanted) {
    if (!outcomes_[i] && asked_.insert(i).second) fresh.push_back(i);
  }
  if (fresh.empty() || interrupted() != 0) return;
  diff::Work some = diff::some_of(work_, fresh);
  const std::size_t before = verdict_.tensors.size();
  diff::judge_all(some, true, met_.steps, context_, verdict_);
  diff::put_back(some, fresh, work_);
  for (const TensorResult& result : std::span(verdict_.tensors).subspan(before)) {
    const std::size_t i = *place_of(result);
    outcomes_[i] = result.outcome();
    log_.push_back(fmt::format("{} {} {}", result.outcome() == Outcome::diverged ? "bad" : "good",
                               name(result.identity.phase), result.identity.name));
  }
}

template <class Wanted>
void OpSearch::look_at_all(Wanted&& wanted) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (wanted(i)) all.push_back(i);
  }
  look(all);
}

Mark OpSearch::mark(std::size_t i) {
  look({&i, 1});
  if (!outcomes_[i]) return Mark::skip;
  return bad(i) ? Mark::bad : Mark::good;
}

/// Whole numbers that go in: without them nothing says that the two saw the same.
void OpSearch::look_at_batch() {
  look_at_all([this](std::size_t i) {
    return records_[i].kind == Kind::input && is_exact(work_.pairs[i].reference->dtype);
  });
}

/// What the module puts out that ran the record's op: it stands at the head of a report.
void OpSearch::look_at_module_of(std::size_t found) {
  const auto& trace = work_.pairs[found].reference->trace;
  if (!trace || trace->counted.within.empty()) return;
  look_at_all([&](std::size_t i) {
    const Kind kind = records_[i].kind;
    const bool made = kind == Kind::output || kind == Kind::grad_input;
    return made && module_of(identity(i)) == trace->counted.within;
  });
}

/// The first bad one of [begin, end), looked through in order.
std::optional<std::size_t> OpSearch::first_in(std::size_t begin, std::size_t end) {
  for (std::size_t from = begin; from < end; from += kAtOnce) {
    std::vector<std::size_t> some;
    for (std::size_t i = from; i < std::min(from + kAtOnce, end); ++i) some.push_back(i);
    look(some);
    const auto found = std::ranges::find_if(some, [this](std::size_t i) { return bad(i); });
    if (found != some.end()) return *found;
    if (interrupted() != 0) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> OpSearch::in_chains() {
  chains_ = chains_of(records_);
  for (const Chain& chain : chains_) {
    for (std::size_t i = chain.begin; i < chain.end; ++i) chained_.insert(i);
  }
  for (std::size_t n = 0; n < chains_.size(); ++n) {
    const Chain& chain = chains_[n];
    const Bisection found = search(
        chain.ends.size(), {}, [&](std::size_t end, Interval) { return mark(chain.ends[end]); },
        true);
    if (!found.first_bad) continue;
    const auto earlier = died_out(std::span(chains_).first(n));
    return earlier ? earlier : in_block(chain, found.last_good, *found.first_bad);
  }
  return std::nullopt;
}

/// The first bad record between two ends of blocks; without a good one, from the beginning.
std::size_t OpSearch::in_block(const Chain& chain, std::optional<std::size_t> good,
                               std::size_t bad) {
  const std::size_t begin = good ? chain.ends[*good] + 1 : chain.begin;
  return first_in(begin, chain.ends[bad] + 1).value_or(chain.ends[bad]);
}

/// The first bad one of chains whose last end was good, though what comes behind them is bad: an
/// error may have died out beside a larger residual stream.
std::optional<std::size_t> OpSearch::died_out(std::span<const Chain> chains) {
  for (const Chain& chain : chains) {
    look(chain.ends);
    const auto end = std::ranges::find_if(chain.ends, [this](std::size_t i) { return bad(i); });
    if (end == chain.ends.end()) continue;
    const auto at = static_cast<std::size_t>(end - chain.ends.begin());
    return in_block(chain, at == 0 ? std::nullopt : std::optional(at - 1), at);
  }
  return std::nullopt;
}

/// What no chain holds: most of it flows nowhere within the step. What is bad there may come of
/// what died out in a chain.
std::optional<std::size_t> OpSearch::elsewhere() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (chained_.contains(i)) continue;
    if (mark(i) == Mark::bad) {
      const auto behind =
          std::ranges::find_if(chains_, [&](const Chain& one) { return one.end > i; });
      const auto earlier = died_out({chains_.begin(), behind});
      return earlier ? earlier : std::optional(i);
    }
    if (interrupted() != 0) break;
  }
  return std::nullopt;
}

/// A bad record before `found`, of the same op or consumed by it.
std::optional<std::size_t> OpSearch::of_its_op(std::size_t found) {
  const std::string_view op = module_of(identity(found));
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < found; ++i) {
    if (module_of(identity(i)) == op) own.push_back(i);
  }
  const auto& trace = work_.pairs[found].reference->trace;
  if (trace) {
    for (const std::string& input : trace->inputs) {
      const auto [phase, name] = input_identity(input);
      for (std::size_t i = 0; i < found; ++i) {
        const bool there = phase == Phase::none || identity(i).phase == phase;
        if (there && identity(i).name == name) own.push_back(i);
      }
    }
  }
  std::ranges::sort(own);
  look(own);
  const auto first = std::ranges::find_if(own, [this](std::size_t i) { return bad(i); });
  return first == own.end() ? std::nullopt : std::optional(*first);
}

}  // namespace ttcheck::bisect
