// SPDX-License-Identifier: Apache-2.0
// sglang-dump: a directory of tensors that SGLang's dumper wrote, one torch file each; since 0.5.6
// with a dict {value, meta} whose meta has the rank's place and the dims line (sglang/srt/
// debug_utils/dumper.py), before that the bare value.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dumps/sglang/name.hpp"
#include "formats/ranks/dims_cache.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/ranks/stated_mesh.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/dumped_record.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kGradient = "grad__", kParameter = "param__", kHook = "non_intrusive__";

Bid bid_sglang_dump(const Probe& probe) {
  const auto dumped = [](const std::string& name) { return parse_sglang_name(name).has_value(); };
  return probe.file.empty() && std::ranges::any_of(probe.names, dumped) ? Bid::sglang_dump
                                                                        : Bid::none;
}

struct Dump {
  SglangName name;
  std::string path;
};

/// What a dump's name says of the value: hooks name inputs and outputs, the dumper marks gradients
/// and parameters.
std::pair<Phase, Kind> meaning_of(std::string_view name) {
  const bool gradient = name.starts_with(kGradient);
  if (gradient) name.remove_prefix(kGradient.size());
  if (name.starts_with(kParameter)) {
    return gradient ? std::pair(Phase::backward, Kind::grad)
                    : std::pair(Phase::state, Kind::weight);
  }
  if (gradient) return {Phase::backward, Kind::grad_output};
  const bool input = name.starts_with(kHook) && name.find("inputs.") != std::string_view::npos;
  return {Phase::forward, input ? Kind::input : Kind::output};
}

/// `tp_rank` and `tp_size` of a parallel info, whichever framework's.
StatedPlace place_in(Value meta) {
  constexpr std::string_view kRank = "_rank", kSize = "_size";
  StatedPlace place;
  for (const std::string_view key : {"sglang_parallel_info", "megatron_parallel_info"}) {
    const Value info = meta.find(key);
    for (std::size_t i = 0; i < info.size(); ++i) {
      const auto name = info.key(i).text();
      if (!name || !name->ends_with(kRank) || name->ends_with("_src_rank")) continue;
      const std::string axis(name->substr(0, name->size() - kRank.size()));
      const auto rank = info.value(i).integer();
      const auto size = info.find(axis + std::string(kSize)).integer();
      if (rank && size) place[axis] = {*rank, *size};
    }
  }
  return place;
}

class SglangDump {
 public:
  explicit SglangDump(const Probe& probe) : root_(probe.root) {}

  Run open(const Probe& probe, const std::shared_ptr<SglangDump>& self) {
    Run run;
    run.format = "sglang-dump";
    run.trace = true;
    list(probe.names);
    account(probe, run.findings);
    find_mesh(run.findings);
    run.mesh = stated_.mesh;
    for (const auto& [step, dumps] : steps_) run.steps.emplace_back(step);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  void list(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      auto dump = parse_sglang_name(name);
      if (!dump) continue;
      ranks_.insert(dump->rank);
      std::vector<Dump>& dumps = steps_[dump->step];
      dumps.push_back({std::move(*dump), name});
    }
    for (auto& [step, dumps] : steps_) {
      std::ranges::sort(dumps, {}, [](const Dump& dump) {
        return std::tie(dump.name.rank, dump.name.index, dump.path);
      });
    }
  }

  void account(const Probe& probe, std::vector<Finding>& findings) {
    const Beside others =
        beside(probe, [](const Entry& entry) { return parse_sglang_name(entry.path).has_value(); });
    unclaimed_ = others.unclaimed;
    for (Finding& finding : findings_beside(others, root_)) findings.push_back(std::move(finding));
  }

  /// Finds the mesh from the first readable dump of each rank.
  void find_mesh(std::vector<Finding>& findings) {
    std::map<std::int32_t, StatedPlace> places;
    std::int64_t world = 1;
    for (const auto& [step, dumps] : steps_) {
      for (const Dump& dump : dumps) {
        if (places.contains(dump.name.rank)) continue;
        try {
          const TorchFile file = read_torch(root_.file(dump.path));
          const Value meta = file.root().find("meta");
          world = std::max(world, meta.find("world_size").integer().value_or(1));
          const StatedPlace& place = places[dump.name.rank] = place_in(meta);
          for (const auto& [axis, at] : place) axes_.insert(axis);
        } catch (const Error&) {
          continue;  // said when its step is read
        }
      }
    }
    try {
      stated_ = mesh_of(places, world);
    } catch (const Error& error) {
      findings.push_back(unreadable(error.at({root_.given(), {}, {}})));
    }
  }

  State state(std::size_t index) {
    const auto at = std::next(steps_.begin(), static_cast<std::ptrdiff_t>(index));
    const std::vector<Dump>& dumps = at->second;
    State state;
    state.step = at->first;
    state.bytes_unclaimed = unclaimed_;
    std::vector<std::unique_ptr<TorchFile>> files(dumps.size());
    std::vector<std::optional<Error>> failed(dumps.size());
    parallel_for(dumps.size(), [&](std::size_t i) {
      try {
        files[i] = std::make_unique<TorchFile>(read_torch(root_.file(dumps[i].path)));
      } catch (const Error& error) {
        failed[i] = error.at({root_.given() + "/" + dumps[i].path, {}, {}});
      }
    });
    std::map<std::tuple<std::int32_t, std::string, bool>, std::int32_t> calls;
    std::set<std::int32_t> seen;
    RankFacts facts;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      const std::int32_t rank = dumps[i].name.rank;
      seen.insert(rank);
      const std::int32_t call = calls[{rank, dumps[i].name.identity(), dumps[i].name.recomputed}]++;
      if (failed[i]) {
        state.findings.push_back(unreadable(*failed[i], dumps[i].name.identity()));
        ++state.unreadable;
        continue;
      }
      take(dumps[i], call, *files[i], facts, state);
      opened_.push_back(std::move(files[i]));
    }
    const auto world = std::max<std::int64_t>(stated_.mesh.world_size(), *ranks_.rbegin() + 1);
    for (std::int64_t number = 0; number < world; ++number) {
      const auto rank = static_cast<std::int32_t>(number);
      if (state.missing_ranks.size() == kMaxRanksListed) break;
      if (!seen.contains(rank)) state.missing_ranks.push_back(rank);
    }
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  void take(const Dump& dump, std::int32_t call, const TorchFile& file, RankFacts& facts,
            State& state) {
    for (const Finding& finding : file.findings()) state.findings.push_back(finding);
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, file.unclaimed());
    const std::string identity = dump.name.identity();
    const Value meta = file.root().find("meta");
    const Value value = meta.is(NodeKind::dict) ? file.root().find("value") : file.root();
    Leaves leaves;
    WalkBudget budget(file.pickle());
    if (TorchFile::is_tensor(value)) {
      leaves.tensors.push_back({identity, value});
    } else if (value) {
      add_leaves(value, identity, false, budget, leaves);
    }
    if (!value || leaves.cut) {
      state.findings.push_back(damaged(file.root().where(), value ? "not every value was followed"
                                                                  : "meta has no value beside it"));
      ++state.unreadable;
    }
    for (const Leaf& leaf : leaves.others) {
      Fact fact = fact_of(leaf);  // a real one may differ by round-off, where tensors do
      const bool real = std::holds_alternative<double>(fact.value);
      fact.use = real ? FactUse::opaque : FactUse::compared;
      facts.take({std::move(fact)}, dump.name.rank, state.facts);
    }
    const auto record_at = [&](const Leaf& leaf) {
      Record record = dumped_record(file, leaf.value, leaf.path, {dump.name.rank, dump.name.index},
                                    stated_.mesh);
      std::tie(record.identity.phase, record.kind) = meaning_of(dump.name.name);
      record.identity.call = call;
      record.again = dump.name.recomputed;
      place(record, meta, state);
      return record;
    };
    add_each(leaves.tensors, record_at, state);
  }

  /// Places a record by its dims line, whose axes may be other words for the mesh's.
  void place(Record& record, Value meta, State& state) {
    if (ranks_.size() == 1 && stated_.mesh.axes.empty()) return;
    const bool gradient = record.identity.phase == Phase::backward;
    Value line = gradient ? meta.find("dims_grad") : Value();
    if (!line.text()) line = meta.find("dims");
    record.undeclared = !line.text();
    if (!line.text()) return;
    Placement placement = *dims_.parse(*line.text());
    if (const std::string axis = unknown_axis(placement); !axis.empty()) {
      record.undeclared = true;
      state.findings.push_back(
          odd(line.where(),
              fmt::format("dims line '{}' names axis {}, along which no rank states its place",
                          *line.text(), axis)));
      state.findings.back().tensor = record.identity.name;
      return;
    }
    for (const auto& same : stated_.same) placement.renamed.push_back(same);
    record.placement = std::make_shared<const Placement>(std::move(placement));
  }

  /// An axis of the line that no rank's place has; empty when there is none.
  std::string unknown_axis(const Placement& placement) const {
    const auto known = [&](const std::string& axis) {
      const auto group =
          std::ranges::find(placement.renamed, axis, [](const auto& one) { return one.first; });
      const std::string& meant = group == placement.renamed.end() ? axis : group->second;
      return axes_.contains(meant) || (meant == "sp" && axes_.contains("tp"));
    };
    const auto first_unknown = [&](const std::vector<ShardSpec>& shards) {
      const auto found = std::ranges::find_if_not(shards, known, &ShardSpec::axis);
      return found == shards.end() ? std::string() : found->axis;
    };
    std::string axis = first_unknown(placement.flat_shards);
    for (const DimSpec& dim : placement.dims) {
      if (axis.empty()) axis = first_unknown(dim.shards);
    }
    return axis;
  }

  const Root& root_;
  std::map<std::int64_t, std::vector<Dump>> steps_;
  std::set<std::int32_t> ranks_;
  StatedMesh stated_;
  std::set<std::string, std::less<>> axes_;  ///< of which ranks state their place, of size 1 too
  DimsCache dims_;
  std::uint64_t unclaimed_ = 0;
  std::vector<std::unique_ptr<const TorchFile>> opened_;  ///< what records point to
};

Run open_sglang_dump(const Probe& probe, const OpenOptions&) {
  const auto dump = std::make_shared<SglangDump>(probe);
  return dump->open(probe, dump);
}

}  // namespace

const Format kSglangDump = {"sglang-dump", "one torch file a tensor, by SGLang's dumper",
                            bid_sglang_dump, open_sglang_dump};

}  // namespace ttcheck::formats
