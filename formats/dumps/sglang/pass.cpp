// SPDX-License-Identifier: Apache-2.0
// sglang-pass: what SGLang's tensor_dump_forward_hook wrote: a folder for each rank,
// `TP0_PP0_Rank0_pid4000`, with one torch file a forward pass, a dict of module outputs by name.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/ranks/stated_mesh.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/dumped_record.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {
namespace {

/// The number behind `word`, both taken off the text.
std::optional<std::int32_t> take_number(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct RankFolder {
  std::int32_t tp = 0, pp = 0, rank = 0;
};

std::optional<RankFolder> parse_folder(std::string_view name) {
  const auto tp = take_number(name, "TP");
  const auto pp = tp ? take_number(name, "_PP") : std::nullopt;
  const auto rank = pp ? take_number(name, "_Rank") : std::nullopt;
  if (!rank || !name.starts_with("_pid")) return std::nullopt;
  return RankFolder{*tp, *pp, *rank};
}

std::optional<std::int32_t> pass_of(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  const auto pass = take_number(name, "Pass");
  return name == ".pt" ? pass : std::nullopt;
}

Bid bid_sglang_pass(const Probe& probe) {
  const auto of_rank = [](const std::string& name) { return parse_folder(name).has_value(); };
  return probe.file.empty() && std::ranges::any_of(probe.names, of_rank) ? Bid::sglang_pass
                                                                         : Bid::none;
}

class SglangPass {
 public:
  explicit SglangPass(const Probe& probe) : root_(probe.root) {}

  Run open(const Probe& probe, const std::shared_ptr<SglangPass>& self) {
    Run run;
    run.format = "sglang-pass";
    run.trace = true;
    list(probe, run.findings);
    if (passes_.empty()) throw Error("no rank's folder has a Pass*.pt", {root_.given(), {}, {}});
    run.mesh = mesh_;
    for (const auto& [pass, files] : passes_) run.steps.emplace_back(pass);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  void list(const Probe& probe, std::vector<Finding>& findings) {
    std::map<std::int32_t, RankFolder> folders;
    std::int64_t tp = 1;
    std::int64_t pp = 1;
    for (const std::string& name : probe.names) {
      const auto folder = parse_folder(name);
      const auto place = folder ? root_.entry(name) : std::nullopt;
      if (!place || place->kind != EntryKind::directory) continue;
      if (!folders.emplace(folder->rank, *folder).second) {
        findings.push_back(
            found(Code::unreadable,
                  fmt::format("rank {} has an earlier folder by name: that is read, this one not",
                              folder->rank),
                  {root_.given() + "/" + name, {}, {}}));
        findings.back().incomplete = true;
        count_unclaimed(name);
        continue;
      }
      tp = std::max<std::int64_t>(tp, std::int64_t{folder->tp} + 1);
      pp = std::max<std::int64_t>(pp, std::int64_t{folder->pp} + 1);
      for (const Entry& entry : root_.list(name)) {
        const auto pass = entry.kind == EntryKind::file ? pass_of(entry.path) : std::nullopt;
        if (pass) {
          passes_[*pass].emplace(folder->rank, entry.path);
        } else {
          unclaimed_ = checked_add(unclaimed_, entry.size);
          if (entry.kind == EntryKind::directory) count_unclaimed(entry.path);
        }
      }
    }
    std::map<std::int32_t, StatedPlace> places;
    for (const auto& [rank, folder] : folders) {
      places[rank] = {{"tp", {folder.tp, tp}}, {"pp", {folder.pp, pp}}};
      ranks_.push_back(rank);
    }
    try {
      mesh_ = mesh_of(places).mesh;
    } catch (const Error& error) {
      findings.push_back(unreadable(error.at({root_.given(), {}, {}})));
    }
    const Beside others = beside(probe, [](const Entry& entry) {
      return entry.kind == EntryKind::directory && parse_folder(entry.path).has_value();
    });
    unclaimed_ = checked_add(unclaimed_, others.unclaimed);
    for (Finding& finding : findings_beside(others, root_)) findings.push_back(std::move(finding));
  }

  void count_unclaimed(const std::string& folder) {
    constexpr int kLevels = 4;
    for (const Entry& entry : root_.list(folder, kLevels)) {
      unclaimed_ = checked_add(unclaimed_, entry.size);
    }
  }

  State state(std::size_t index) {
    const auto at = std::next(passes_.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    state.step = at->first;
    state.bytes_unclaimed = unclaimed_;
    RankFacts facts;
    for (const std::int32_t rank : ranks_) {
      const auto path = at->second.find(rank);
      if (path == at->second.end()) {
        state.missing_ranks.push_back(rank);
        continue;
      }
      try {
        opened_.push_back(std::make_unique<const TorchFile>(read_torch(root_.file(path->second))));
        take(*opened_.back(), rank, facts, state);
      } catch (const Error& error) {
        state.unreadable_ranks.emplace(rank,
                                       error.at({root_.given() + "/" + path->second, {}, {}}));
      }
    }
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  void take(const TorchFile& file, std::int32_t rank, RankFacts& facts, State& state) {
    for (const Finding& finding : file.findings()) state.findings.push_back(finding);
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, file.unclaimed());
    WalkBudget budget(file.pickle());
    Leaves leaves;
    add_leaves(file.root(), "", true, budget, leaves);
    if (leaves.cut) {
      state.findings.push_back(damaged(file.root().where(), "not every value was followed"));
    }
    for (const Leaf& leaf : leaves.others) facts.take({fact_of(leaf)}, rank, state.facts);
    std::int64_t seq = 0;
    const auto record_at = [&](const Leaf& leaf) {
      Record record = dumped_record(file, leaf.value, leaf.path, {rank, seq++}, mesh_);
      record.undeclared = ranks_.size() > 1;
      return record;
    };
    add_each(leaves.tensors, record_at, state);
  }

  const Root& root_;
  std::map<std::int32_t, std::map<std::int32_t, std::string>> passes_;  ///< files by rank
  std::vector<std::int32_t> ranks_;
  Mesh mesh_;
  std::uint64_t unclaimed_ = 0;
  std::vector<std::unique_ptr<const TorchFile>> opened_;  ///< what records point to
};

Run open_sglang_pass(const Probe& probe, const OpenOptions&) {
  const auto pass = std::make_shared<SglangPass>(probe);
  return pass->open(probe, pass);
}

}  // namespace

const Format kSglangPass = {"sglang-pass",
                            "module outputs of each forward pass, by SGLang's forward hook",
                            bid_sglang_pass, open_sglang_pass};

}  // namespace ttcheck::formats
