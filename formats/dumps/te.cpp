// SPDX-License-Identifier: Apache-2.0
// te-dump: tensors that TransformerEngine's debug feature DumpTensors writes, one torch file each:
// `tensor_dumps/rank_R/iter_NNNNNN/LAYER_TENSOR.pt` with a dict {high_precision, quantized}
// (transformer_engine/debug/features/dump_tensors.py). `.` and `/` of a layer's name are `_` there,
// so its end is known by the words for tensors alone.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/dumped_record.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFolder = "tensor_dumps";
constexpr std::string_view kRank = "rank_";
constexpr std::string_view kIter = "iter_";
constexpr std::string_view kEnding = ".pt";
constexpr int kLevels = 3;

struct TeWord {
  std::string_view word;
  Phase phase;
  Kind kind;
};

/// The words in the order of a layer's pass: its own forward, then its gradients.
constexpr std::array kTeWords = {
    TeWord{"weight", Phase::state, Kind::weight},
    TeWord{"activation", Phase::forward, Kind::input},
    TeWord{"output", Phase::forward, Kind::output},
    TeWord{"gradient", Phase::backward, Kind::grad_output},
    TeWord{"dgrad", Phase::backward, Kind::grad_input},
    TeWord{"wgrad", Phase::backward, Kind::grad},
};

struct TeFile {
  std::string path;
  std::string layer;
  const TeWord* word = nullptr;
};

/// The number behind the prefix; the name is nothing else.
std::optional<std::int32_t> number_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = trailing_number(name);
  if (!number || !std::in_range<std::int32_t>(*number)) return std::nullopt;
  const bool whole = name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  return whole ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

/// `decoder_layers_0_mlp_fc1` and `activation` of `decoder_layers_0_mlp_fc1_activation.pt`.
std::optional<TeFile> parse_te_file(const std::string& path) {
  std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  for (const TeWord& word : kTeWords) {
    if (!name.ends_with(word.word)) continue;
    const std::string_view layer = name.substr(0, name.size() - word.word.size());
    if (layer.size() > 1 && layer.ends_with('_')) {
      return TeFile{path, std::string(layer.substr(0, layer.size() - 1)), &word};
    }
  }
  return std::nullopt;
}

using RankFiles = std::map<std::int32_t, std::vector<TeFile>>;

struct TeFiles {
  std::map<std::int64_t, RankFiles> steps;
  std::uint64_t unclaimed = 0;
  std::vector<std::string> others;
};

/// Below the folder `tensor_dumps`, or in it.
TeFiles find_te_dump(const Root& root) {
  TeFiles found;
  const bool above = root.entry(kFolder).has_value();
  for (const Entry& entry : root.list(above ? kFolder : "", kLevels)) {
    if (entry.kind != EntryKind::file) continue;
    std::string_view path = entry.path;
    if (above) path.remove_prefix(kFolder.size() + 1);
    const std::size_t first = path.find('/');
    const std::size_t second = path.find('/', first + 1);
    if (first != std::string_view::npos && second != std::string_view::npos) {
      const auto rank = number_behind(path.substr(0, first), kRank);
      const auto step = number_behind(path.substr(first + 1, second - first - 1), kIter);
      auto file = rank && step ? parse_te_file(entry.path) : std::nullopt;
      if (file) {
        found.steps[*step][*rank].push_back(std::move(*file));
        continue;
      }
    }
    found.unclaimed = checked_add(found.unclaimed, entry.size);
    found.others.push_back(entry.path);
  }
  for (auto& [step, ranks] : found.steps) {
    for (auto& [rank, files] : ranks) {
      std::ranges::sort(files, [](const TeFile& a, const TeFile& b) {
        return std::tie(a.word->phase, a.layer, a.word) < std::tie(b.word->phase, b.layer, b.word);
      });
    }
  }
  return found;
}

Bid bid_te_dump(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  const auto may_be = [](const std::string& name) {
    return name == kFolder || number_behind(name, kRank).has_value();
  };
  if (std::ranges::none_of(probe.names, may_be)) return Bid::none;
  try {
    return find_te_dump(probe.root).steps.empty() ? Bid::none : Bid::te_dump;
  } catch (const Error&) {
    return Bid::none;
  }
}

class TeDump {
 public:
  explicit TeDump(const Probe& probe) : root_(probe.root), files_(find_te_dump(probe.root)) {
    for (const auto& [step, ranks] : files_.steps) {
      for (const auto& [rank, files] : ranks) ranks_.insert(rank);
    }
  }

  Run open(const Probe& probe, const std::shared_ptr<TeDump>& self) {
    Run run;
    run.format = "te-dump";
    run.trace = true;
    run.findings = findings_beside(probe, files_.others);
    if (std::ranges::binary_search(probe.names, kFolder)) {
      const Beside others = beside(probe, [](const Entry& entry) { return entry.path == kFolder; });
      files_.unclaimed = checked_add(files_.unclaimed, others.unclaimed);
      std::ranges::move(findings_beside(others, root_), std::back_inserter(run.findings));
    }
    for (const auto& [step, ranks] : files_.steps) run.steps.emplace_back(step);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  State state(std::size_t index) {
    const auto at = std::next(files_.steps.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    state.step = at->first;
    state.bytes_unclaimed = files_.unclaimed;
    RankFacts facts;
    for (const std::int32_t rank : ranks_) {
      const auto own = at->second.find(rank);
      if (own == at->second.end()) {
        if (state.missing_ranks.size() < kMaxRanksListed) state.missing_ranks.push_back(rank);
        continue;
      }
      std::int64_t seq = 0;
      for (const TeFile& file : own->second) {
        try {
          opened_.push_back(std::make_unique<const TorchFile>(read_torch(root_.file(file.path))));
          take(file, *opened_.back(), {rank, seq++}, facts, state);
        } catch (const Error& error) {
          state.findings.push_back(
              unreadable(error.at({root_.given() + "/" + file.path, {}, {}}), name_of(file)));
          ++state.unreadable;
        }
      }
    }
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  static std::string name_of(const TeFile& file) {
    return file.layer + "/" + std::string(file.word->word);
  }

  /// The value in high precision bears the plain name, what it was quantised to one more word.
  void take(const TeFile& file, const TorchFile& torch, const DumpedPlace& place, RankFacts& facts,
            State& state) {
    for (const Finding& finding : torch.findings()) state.findings.push_back(finding);
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, torch.unclaimed());
    Leaves leaves;
    WalkBudget budget(torch.pickle());
    const Value high = torch.root().find("high_precision");
    const Value quantised = torch.root().find("quantized");
    if (!high && !quantised) {
      throw Error("high_precision or quantized was expected, found neither", torch.root().where());
    }
    add_leaves(high, name_of(file), false, budget, leaves);
    add_leaves(quantised, name_of(file) + ".quantized", false, budget, leaves);
    if (leaves.cut) {
      state.findings.push_back(damaged(torch.root().where(), "not every value was followed"));
    }
    for (const Leaf& leaf : leaves.others) {
      if (!leaf.value.is_none()) facts.take({fact_of(leaf)}, place.rank, state.facts);
    }
    const auto record_at = [&](const Leaf& leaf) {
      Record record = dumped_record(torch, leaf.value, leaf.path, place, Mesh());
      record.identity.phase = file.word->phase;
      record.kind = file.word->kind;
      record.undeclared = ranks_.size() > 1;
      return record;
    };
    add_each(leaves.tensors, record_at, state);
  }

  const Root& root_;
  TeFiles files_;
  std::set<std::int32_t> ranks_;
  std::vector<std::unique_ptr<const TorchFile>> opened_;  ///< what records point to
};

Run open_te_dump(const Probe& probe, const OpenOptions&) {
  const auto dump = std::make_shared<TeDump>(probe);
  return dump->open(probe, dump);
}

}  // namespace

const Format kTeDump = {"te-dump", "tensors that TransformerEngine's DumpTensors writes",
                        bid_te_dump, open_te_dump};

}  // namespace ttcheck::formats
