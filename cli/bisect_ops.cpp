// A difference that came about in forward, loss or backward shows in the outputs of all blocks
// behind it, so that the first bad block is found by halving, and the first bad record by looking
// through that block in order. What flows nowhere (gradients that were summed, the optimizer) is
// looked through in order when no chain is bad, and then everything else: that nothing is bad is
// said only of what was looked at, and as `diff` would. The records of the op that was found, and
// those it consumes, are looked at wherever they are: its parameter may have been wrong from the
// start. The batch and, once one parameter is bad, all of them decide whether the runs can be
// compared at all.

#include "cli/bisect_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cli/after_steps.hpp"
#include "cli/apart_heirs.hpp"
#include "cli/coarse_masters.hpp"
#include "cli/conclusion.hpp"
#include "cli/diff.hpp"
#include "cli/interrupt.hpp"
#include "cli/judging.hpp"
#include "cli/leftovers.hpp"
#include "cli/meet_step.hpp"
#include "cli/noise_updates.hpp"
#include "cli/recomputing.hpp"
#include "cli/settle_noise.hpp"
#include "cli/side.hpp"
#include "cli/usage.hpp"
#include "core/locate/bisect.hpp"
#include "core/locate/chains.hpp"
#include "core/locate/first.hpp"
#include "core/locate/origins.hpp"
#include "core/verdict/coverage.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::size_t kAtOnce = 4;  ///< records of a block looked at in one go

class OpSearch {
 public:
  OpSearch(MetStep& met, const StepPair& steps, DiffContext& context, Verdict& verdict)
      : steps_(steps), context_(context), verdict_(verdict), work_(met.work) {
    const auto& sides = *met.sides;
    work_.context = context_of_records(sides[0].assembly.tensors, sides[1].assembly.tensors);
    work_.context->trace = true;
    const std::int64_t passes = end_of_passes();
    for (std::size_t i = 0; i < work_.pairs.size(); ++i) {
      const Tensor& tensor = *work_.pairs[i].reference;
      places_.emplace(tensor.identity, i);
      const bool behind = is_counted(tensor) && tensor.trace->seq > passes;
      records_.push_back({&tensor.identity, tensor.kind, behind});
    }
    outcomes_.resize(work_.pairs.size());
  }

  /// The record that is bad first, as far as was looked.
  std::optional<std::size_t> run() {
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

  std::size_t looked() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(outcomes_, [](const auto& outcome) { return outcome.has_value(); }));
  }
  std::size_t total() const { return outcomes_.size(); }
  const std::vector<std::string>& log() const { return log_; }

  void look_at_rest() {
    look_at_all([](std::size_t) { return true; });
  }

  /// Nothing where its bytes were not compared.
  std::optional<std::size_t> place_of(const Identity& identity) const {
    const auto found = places_.find(identity);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The nearest record before it that was looked at and is not bad.
  std::optional<std::size_t> good_before(std::size_t bad) const {
    for (std::size_t i = bad; i-- > 0;) {
      if (outcomes_[i] && *outcomes_[i] != Outcome::diverged) return i;
    }
    return std::nullopt;
  }

  const Identity& identity(std::size_t i) const { return *records_[i].identity; }

  std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const compare::Pair& pair : work_.pairs) {
      bytes += logical_bytes(*pair.reference) + logical_bytes(*pair.candidate);
    }
    return bytes;
  }

 private:
  static bool is_counted(const Tensor& tensor) {
    return tensor.trace && !tensor.trace->counted.base.empty();
  }

  /// The last record of backward in a dump of calls: an optimizer's are not told from a model's by
  /// their names.
  std::int64_t end_of_passes() const {
    std::int64_t last = -1;
    for (const compare::Pair& pair : work_.pairs) {
      const Tensor& tensor = *pair.reference;
      if (!is_counted(tensor) || tensor.identity.phase != Phase::backward) continue;
      last = std::max(last, tensor.trace->seq);
    }
    return last < 0 ? std::numeric_limits<std::int64_t>::max() : last;
  }

  bool is_parameter(std::size_t i) const {
    return identity(i).phase == Phase::state && ttcheck::is_parameter(records_[i].kind);
  }

  bool bad(std::size_t i) const { return outcomes_[i] == Outcome::diverged; }

  /// Compares those that were not looked at yet.
  void look(std::span<const std::size_t> wanted) {
    Work some;
    some.context = work_.context;
    std::vector<std::size_t> at;
    for (const std::size_t i : wanted) {
      if (outcomes_[i] || !asked_.insert(i).second) continue;
      at.push_back(i);
      some.pairs.push_back(work_.pairs[i]);
      some.rules.push_back(work_.rules[i]);
    }
    for (const Alternative& alternative : work_.alternatives) {
      const auto found = std::ranges::find(at, alternative.pair);
      if (found == at.end()) continue;
      some.alternatives.push_back(
          {static_cast<std::size_t>(found - at.begin()), alternative.other, alternative.parts});
    }
    if (some.pairs.empty() || interrupted() != 0) return;
    const std::size_t before = verdict_.tensors.size();
    judge_all(some, true, steps_, context_, verdict_);
    for (const TensorResult& result : std::span(verdict_.tensors).subspan(before)) {
      const std::size_t i = places_.at(result.identity);
      outcomes_[i] = result.outcome;
      log_.push_back(fmt::format("{} {} {}", result.outcome == Outcome::diverged ? "bad" : "good",
                                 name(result.identity.phase), result.identity.name));
    }
  }

  template <class Wanted>
  void look_at_all(Wanted&& wanted) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (wanted(i)) all.push_back(i);
    }
    look(all);
  }

  locate::Mark mark(std::size_t i) {
    look({&i, 1});
    if (!outcomes_[i]) return locate::Mark::skip;
    return bad(i) ? locate::Mark::bad : locate::Mark::good;
  }

  /// Whole numbers that go in: without them nothing says that the two saw the same.
  void look_at_batch() {
    look_at_all([this](std::size_t i) {
      const Phase phase = identity(i).phase;
      return (phase == Phase::forward || phase == Phase::loss) && records_[i].kind == Kind::input &&
             is_exact(work_.pairs[i].reference->dtype);
    });
  }

  /// What the module puts out that ran the record's op: it stands at the head of a report.
  void look_at_module_of(std::size_t found) {
    const auto& trace = work_.pairs[found].reference->trace;
    if (!trace || trace->counted.within.empty()) return;
    look_at_all([&](std::size_t i) {
      const Kind kind = records_[i].kind;
      const bool made = kind == Kind::output || kind == Kind::grad_input;
      return made && module_of(identity(i)) == trace->counted.within;
    });
  }

  /// The first bad one of [begin, end), looked through in order.
  std::optional<std::size_t> first_in(std::size_t begin, std::size_t end) {
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

  std::optional<std::size_t> in_chains() {
    const std::vector<locate::Chain> chains = locate::chains_of(records_);
    for (const locate::Chain& chain : chains) {
      for (std::size_t i = chain.begin; i < chain.end; ++i) chained_.insert(i);
    }
    for (std::size_t n = 0; n < chains.size(); ++n) {
      const locate::Chain& chain = chains[n];
      const locate::Bisection found =
          locate::bisect(chain.ends.size(), {},
                         [&](std::size_t end, locate::Interval) { return mark(chain.ends[end]); });
      if (!found.first_bad) continue;
      const auto earlier = died_out(std::span(chains).first(n));
      return earlier ? earlier : in_block(chain, found.last_good, *found.first_bad);
    }
    return std::nullopt;
  }

  /// The first bad record between two ends of blocks; without a good one, from the beginning.
  std::size_t in_block(const locate::Chain& chain, std::optional<std::size_t> good,
                       std::size_t bad) {
    const std::size_t begin = good ? chain.ends[*good] + 1 : chain.begin;
    return first_in(begin, chain.ends[bad] + 1).value_or(chain.ends[bad]);
  }

  /// The first bad one of chains whose last end was good, though what comes behind them is bad: an
  /// error may have died out beside a larger residual stream.
  std::optional<std::size_t> died_out(std::span<const locate::Chain> chains) {
    for (const locate::Chain& chain : chains) {
      look(chain.ends);
      const auto end = std::ranges::find_if(chain.ends, [this](std::size_t i) { return bad(i); });
      if (end == chain.ends.end()) continue;
      const auto at = static_cast<std::size_t>(end - chain.ends.begin());
      return in_block(chain, at == 0 ? std::nullopt : std::optional(at - 1), at);
    }
    return std::nullopt;
  }

  /// What no chain holds: most of it flows nowhere within the step.
  std::optional<std::size_t> elsewhere() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (chained_.contains(i)) continue;
      if (mark(i) == locate::Mark::bad) return i;
      if (interrupted() != 0) break;
    }
    return std::nullopt;
  }

  /// A bad record before `found`, of the same op or consumed by it.
  std::optional<std::size_t> of_its_op(std::size_t found) {
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

  const StepPair& steps_;
  DiffContext& context_;
  Verdict& verdict_;
  Work& work_;
  std::unordered_map<Identity, std::size_t, IdentityHash> places_;
  std::vector<locate::RecordPlace> records_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::unordered_set<std::size_t> asked_, chained_;
  std::vector<std::string> log_;
};

/// The answer where the first bad record has no bytes: all of these are judged as they are read, so
/// there is nothing to search.
void name_unstored(std::span<const TensorResult> results, std::size_t first, Search& search) {
  const std::string_view op = module_of(results[first].identity);
  search.first_bad_op = std::string(op);
  for (std::size_t i = first; i-- > 0;) {
    if (results[i].outcome == Outcome::diverged || module_of(results[i].identity) == op) continue;
    search.last_good_op = std::string(module_of(results[i].identity));
    return;
  }
}

/// Whether some of what was found is noise of gradients and what comes of it. That is judged in
/// order, and only when all records are there.
bool may_be_noise(const MetStep& met, std::span<const TensorResult> results, const StepPair& steps,
                  DiffContext& context) {
  std::vector<TensorResult> tried(results.begin(), results.end());
  Verdict unused;
  const auto carried = context.carried;
  const bool noise = settle_noise(met, tried, steps, context, unused);
  context.carried = carried;
  return noise;
}

/// Searches one step; true when something in it is bad.
bool search_step(const StepPair& steps, DiffContext& context, Verdict& verdict, Search& search) {
  const auto read = [&] { return context.reference.bytes_read() + context.candidate.bytes_read(); };
  const std::size_t before = verdict.tensors.size();
  const std::uint64_t read_before = read();
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  search.bytes_total += read() - read_before;
  if (!met) return false;
  OpSearch ops(*met, steps, context, verdict);
  auto bad = ops.run();
  const auto results = [&] { return std::span(verdict.tensors).subspan(before); };
  const bool noise = may_be_noise(*met, results(), steps, context);
  // Nothing looks bad, or what does was noise, or may be: only all records tell then. An error can
  // die out within its block, beside a residual stream that is larger.
  context.recompute = !bad || noise || context.apart.chance > 0;
  if (context.recompute) {
    ops.look_at_rest();
    sort_results(results(), met->alignment, met->sides->front().assembly.tensors);
    settle_noise(*met, results(), steps, context, verdict);
    settle_heirs(*met, results(), context, verdict);
    judge_masters(*met, results(), verdict);
    bad.reset();
  }
  sort_results(results(), met->alignment, met->sides->front().assembly.tensors);
  context.apart = apart_after(results(), context.apart);
  conclude_step(*met, results(), context, verdict);
  const auto first = locate::first_diverged(results());
  if (first) bad = ops.place_of(results()[*first].identity);
  if (interrupted() != 0) {
    verdict.findings.push_back(interruption("the search was not finished"));
    context.cut_short = true;
  }
  const auto unstored = std::ranges::count_if(
      results(), [&](const TensorResult& result) { return !ops.place_of(result.identity); });
  search.examined += static_cast<std::int64_t>(ops.looked()) + unstored;
  search.total += static_cast<std::int64_t>(ops.total()) + unstored;
  search.bytes_total += ops.bytes();
  search.log.insert(search.log.end(), ops.log().begin(), ops.log().end());
  const auto left = static_cast<std::int64_t>(ops.total() - ops.looked());
  if (left > 0) verdict::exclude(verdict.coverage, "bisect", left);
  if (bad) {
    search.first_bad_op = std::string(module_of(ops.identity(*bad)));
    if (const auto good = ops.good_before(*bad)) {
      search.last_good_op = std::string(module_of(ops.identity(*good)));
    }
  } else if (first) {
    name_unstored(results(), *first, search);
  }
  if (!first) keep_parameters(*met, context);
  return first.has_value();
}

/// `context`: as no step was compared. `left`: what steps that are not searched left apart.
Verdict search_steps(const BisectInput& input, DiffContext context, ApartLeft left) {
  Verdict verdict = head_of(input.reference, input.candidate, input.options);
  verdict.search.emplace();
  verdict.search->axis = "ops";
  verdict.search->bytes_total = input.reference.bytes_read() + input.candidate.bytes_read();
  context.by_hash = true;
  context.apart = left.apart;
  context.carried = std::move(left.carried);
  context.parameters = std::move(left.parameters);
  for (const StepPair& steps : input.pairs) {
    if (search_step(steps, context, verdict, *verdict.search) || context.cut_short) break;
  }
  conclude_runs(context, verdict);
  return verdict;
}

}  // namespace

Verdict bisect_ops(const BisectInput& input) {
  const Options& options = input.options;
  if (!options.run.empty() || !options.log.empty() || !options.replay.empty() ||
      options.predicate != Predicate::diverged) {
    throw Usage("--over ops: --bad, --run, --log and --replay are of a search over steps");
  }
  if (!input.reference.trace || !input.candidate.trace) {
    throw Error("--over ops: expected two traces, got a checkpoint",
                {.file = input.reference.trace ? input.candidate.path : input.reference.path});
  }
  const DiffContext context{
      input.reference, input.candidate, input.options, input.align, {}, {}, {}, {}};
  return judge_after_steps(
      context, [&](ApartLeft left) { return search_steps(input, context, std::move(left)); });
}

}  // namespace ttcheck::cli
