// SPDX-License-Identifier: Apache-2.0
// msprobe: dumps of Ascend's MindStudio probe, of PyTorch or MindSpore: for each step and rank a
// dump.json of what modules and APIs took and gave, with tensor files, statistics or checksums.

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dumps/msprobe/folders.hpp"
#include "formats/dumps/msprobe/rank.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

Bid bid_msprobe(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  try {
    return is_msprobe_dump(probe) ? Bid::msprobe : Bid::none;
  } catch (const Error&) {
    return Bid::none;
  }
}

bool is_incomplete(std::span<const Finding> findings) {
  return std::ranges::any_of(findings, &Finding::incomplete);
}

class Msprobe {
 public:
  explicit Msprobe(const Probe& probe) : root_(probe.root), folders_(msprobe_folders(probe)) {}

  Run open(const std::shared_ptr<Msprobe>& self) {
    Run run;
    run.format = "msprobe";
    run.trace = true;
    run.findings = std::move(folders_.findings);
    for (const auto& [step, ranks] : folders_.steps) {
      run.steps.push_back(step < 0 ? std::nullopt : std::optional(step));
      for (const auto& [rank, folder] : ranks) ranks_.insert(rank);
    }
    if (run.steps.empty()) throw Error("no rank's folder in any step", {root_.given(), {}, {}});
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  State state(std::size_t index) {
    const auto at = std::next(folders_.steps.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    if (at->first >= 0) state.step = at->first;
    state.bytes_unclaimed = folders_.unclaimed;
    RankFacts facts;
    for (const std::int32_t rank : ranks_) {
      const auto folder = at->second.find(rank);
      if (folder == at->second.end()) {
        if (state.missing_ranks.size() < kMaxRanksListed) state.missing_ranks.push_back(rank);
        continue;
      }
      const std::size_t findings = state.findings.size();
      try {
        add_msprobe_rank(root_, folder->second, rank, folders_.of_group || ranks_.size() > 1,
                         opened_, facts, state);
        if (is_incomplete(std::span(state.findings).subspan(findings))) {
          state.damaged_ranks.insert(rank);
        }
      } catch (const Error& error) {
        state.unreadable_ranks.emplace(rank,
                                       error.at({root_.given() + "/" + folder->second, {}, {}}));
      }
    }
    state.least_ranks = std::max<std::int64_t>(state.least_ranks, std::ssize(ranks_));
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  const Root& root_;
  MsprobeFolders folders_;
  std::set<std::int32_t> ranks_;  ///< of any step
  OpenedFiles opened_;
};

Run open_msprobe(const Probe& probe, const OpenOptions&) {
  const auto dump = std::make_shared<Msprobe>(probe);
  return dump->open(dump);
}

}  // namespace

const Format kMsprobe = {"msprobe", "what modules and APIs took and gave, by MindStudio's msprobe",
                         bid_msprobe, open_msprobe};

}  // namespace ttcheck::formats
