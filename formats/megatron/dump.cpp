// SPDX-License-Identifier: Apache-2.0
// megatron-dump: gradients of parameters, gradients of activations and activations that Megatron-LM
// saves while it trains: a torch file a model-parallel rank, {model_chunk0: {name: tensor}}. Names
// count layers and experts from the rank's first; activations are called `module/output0`. There
// are no arguments in the files, so how ranks share a tensor is known of parameters alone, by the
// rules of checkpoints; of activations the other side's shapes tell it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/directory_names.hpp"
#include "formats/megatron/dump_files.hpp"
#include "formats/megatron/mesh.hpp"
#include "formats/megatron/names.hpp"
#include "formats/megatron/placing.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/dumped_record.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kChunk = "model_chunk";
constexpr std::int64_t kMaxChunks = 1024;
constexpr double kVersion = 3.0;  // of checkpoints whose parts of fused weights lie together

Bid bid_megatron_dump(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  const auto starts = [&](std::string_view start) {
    return std::ranges::any_of(probe.names,
                               [&](const std::string& name) { return name.starts_with(start); });
  };
  const bool kinds = starts("wgrads") || starts("dgrads") || starts("activations");
  const bool checkpoints = starts("iter_");
  if (kinds == checkpoints && !starts("mp_rank_")) return Bid::none;
  try {
    return find_megatron_dump(probe.root).steps.empty() ? Bid::none : Bid::megatron_dump;
  } catch (const Error&) {
    return Bid::none;
  }
}

/// What one rank saved of one kind.
struct Dump {
  const MegatronDumpFile* at = nullptr;
  std::unique_ptr<const TorchFile> file;
  std::vector<Leaves> chunks;  ///< under plain names
  Leaves beside;               ///< values that are in no chunk
};

/// `decoder.layers.0.mlp` of `decoder.layers.0.mlp/output0`; the whole name of a parameter.
std::string_view module_part(std::string_view name) { return name.substr(0, name.rfind('/')); }

bool is_activation(std::string_view name) { return name.find('/') != std::string_view::npos; }

std::optional<std::size_t> chunk_number(std::string_view key) {
  if (!key.starts_with(kChunk)) return std::nullopt;
  key.remove_prefix(kChunk.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const bool whole = error == std::errc{} && end == key.data() + key.size();
  return whole && number < kMaxChunks ? std::optional(number) : std::nullopt;
}

Dump read_dump(const Root& root, const MegatronDumpFile& at) {
  Dump dump;
  dump.at = &at;
  dump.file = std::make_unique<const TorchFile>(read_torch(root.file(at.path)));
  const Value chunks = dump.file->root();
  WalkBudget budget(dump.file->pickle());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::string key = path_part(chunks.key(i));
    const auto chunk = chunk_number(key);
    if (!chunk) {
      add_leaves(chunks.value(i), key, false, budget, dump.beside);
      continue;
    }
    if (*chunk >= dump.chunks.size()) dump.chunks.resize(*chunk + 1);
    Leaves& leaves = dump.chunks[*chunk];
    add_leaves(chunks.value(i), "", true, budget, leaves);
    for (Leaf& leaf : leaves.tensors) leaf.path = plain_megatron_name(std::move(leaf.path));
  }
  return dump;
}

/// Phase and kind of a tensor. Gradients of parameters are saved after they were summed over ranks.
std::pair<Phase, Kind> meaning_of(std::string_view name, DumpedKind kind) {
  const bool output = name.substr(module_part(name).size()).starts_with("/output");
  if (kind == DumpedKind::wgrads || !is_activation(name)) return {Phase::sync, Kind::main_grad};
  if (kind == DumpedKind::dgrads) {
    return {Phase::backward, output ? Kind::grad_output : Kind::grad_input};
  }
  return {Phase::forward, output ? Kind::output : Kind::input};
}

/// The groups that names and numbers of one step prove, as arguments would say them.
class Groups {
 public:
  void see(const Dump& dump) {
    const auto& numbers = dump.at->numbers;
    numbers_ = std::max(numbers_, numbers.size());
    for (std::size_t i = 0; i < numbers.size() && i < most_.size(); ++i) {
      most_[i] = std::max(most_[i], numbers[i] + 1);
    }
    for (const Leaves& chunk : dump.chunks) see_names(chunk, numbers);
  }

  /// The arguments that the files tell: of two numbers the second is a pipeline's where its later
  /// ranks lack the embedding.
  MegatronArgs arguments() const {
    MegatronArgs args;
    const bool experts = numbers_ == 3 || (numbers_ == 2 && experts_ > 0 && later_embedding_);
    args.tp = most_[0];
    args.etp = args.tp;
    args.pp = numbers_ == 3 || (numbers_ == 2 && !experts) ? most_[1] : 1;
    args.ep = experts ? most_[numbers_ - 1] : 1;
    args.experts = checked_mul(experts_, args.ep);
    fit_world(args);
    return args;
  }

  std::int64_t experts() const { return experts_; }  ///< that each rank has

 private:
  void see_names(const Leaves& chunk, const std::vector<std::int64_t>& numbers) {
    for (const Leaf& leaf : chunk.tensors) {
      const std::string_view name = module_part(leaf.path);
      if (const auto expert = expert_of_name(name)) {
        experts_ = std::max(experts_, checked_add<std::int64_t>(*expert, 1));
      }
      if (numbers.size() == 2 && numbers[1] > 0 && name.starts_with("embedding")) {
        later_embedding_ = true;
      }
    }
  }

  std::size_t numbers_ = 1;
  std::array<std::int64_t, 3> most_ = {1, 1, 1};
  std::int64_t experts_ = 0;
  bool later_embedding_ = false;
};

/// Layers in each chunk of each stage, as far as names show them.
class Layers {
 public:
  Layers(const std::vector<Dump>& dumps, const MegatronArgs& args)
      : stages_(static_cast<std::size_t>(args.pp)) {
    for (const Dump& dump : dumps) {
      const std::size_t stage = stage_of(dump, args);
      for (std::size_t v = 0; v < dump.chunks.size(); ++v) {
        std::int64_t& count = held_[v * stages_ + stage];
        for (const Leaf& leaf : dump.chunks[v].tensors) {
          const auto layer = layer_of_name(module_part(leaf.path));
          if (layer) count = std::max(count, checked_add<std::int64_t>(*layer, 1));
        }
      }
    }
  }

  /// The layers of all chunks that come before a chunk, the first chunks of every stage before the
  /// second ones.
  std::int64_t before(std::size_t chunk, std::size_t stage) const {
    std::int64_t sum = 0;
    for (const auto& [at, count] : held_) {
      if (at < chunk * stages_ + stage) sum = checked_add(sum, count);
    }
    return sum;
  }

  static std::size_t stage_of(const Dump& dump, const MegatronArgs& args) {
    return args.pp > 1 ? static_cast<std::size_t>(dump.at->numbers[1]) : 0;
  }

 private:
  std::size_t stages_;
  std::map<std::size_t, std::int64_t> held_;  ///< by chunk * stages + stage
};

/// True where an MLP has two projections in one weight: fc1 has twice as many rows as fc2 columns.
bool is_gated(const std::vector<Record>& records) {
  std::map<std::string, std::int64_t> columns;
  constexpr std::string_view kUp = ".linear_fc1.weight";
  constexpr std::string_view kDown = ".linear_fc2.weight";
  const auto owner = [](const Record& record, std::string_view part) -> std::optional<std::string> {
    const std::string& name = record.identity.name;
    const std::size_t at = name.find(part);
    if (at == std::string::npos || record.shape.size() != 2) return std::nullopt;
    return name.substr(0, at) + name.substr(at + part.size());
  };
  for (const Record& record : records) {
    if (const auto mlp = owner(record, kDown)) columns.emplace(*mlp, record.shape[1]);
  }
  return std::ranges::any_of(records, [&](const Record& record) {
    const auto mlp = owner(record, kUp);
    const auto down = mlp ? columns.find(*mlp) : columns.end();
    return down != columns.end() && record.shape[0] / 2 == down->second && record.shape[0] % 2 == 0;
  });
}

class MegatronDump {
 public:
  explicit MegatronDump(const Probe& probe)
      : root_(probe.root), files_(find_megatron_dump(probe.root)) {}

  Run open(const Probe& probe, const std::shared_ptr<MegatronDump>& self) {
    Run run;
    run.format = "megatron-dump";
    run.trace = true;
    find_groups();
    run.mesh = mesh_.mesh;
    run.findings = findings_beside(probe, files_.others);
    for (const auto& [step, dumps] : files_.steps) run.steps.push_back(step);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  /// Finds the groups from the first step; a file of it that cannot be read is said when the step
  /// is.
  void find_groups() {
    Groups groups;
    for (const MegatronDumpFile& file : files_.steps.begin()->second) {
      Dump dump;
      dump.at = &file;
      try {
        dump = read_dump(root_, file);
      } catch (const Error&) {
        dump.chunks.clear();
      }
      groups.see(dump);
    }
    args_ = groups.arguments();
    experts_ = groups.experts();
    mesh_ = megatron_mesh(args_);
  }

  State state(std::size_t index) {
    const auto at = std::next(files_.steps.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    state.step = at->first;
    state.bytes_unclaimed = files_.unclaimed;
    std::vector<Dump> dumps;
    std::set<std::int32_t> seen;
    for (const MegatronDumpFile& file : at->second) {
      const auto rank = rank_of(file);
      try {
        if (!rank) throw Error("its numbers are not those of the other files' ranks");
        seen.insert(*rank);
        dumps.push_back(read_dump(root_, file));
      } catch (const Error& error) {
        state.findings.push_back(unreadable(error.at({root_.given() + "/" + file.path, {}, {}})));
        ++state.unreadable;
      }
    }
    const Layers layers(dumps, args_);
    RankFacts facts;
    for (Dump& dump : dumps) {
      take(dump, layers, facts, state);
      opened_.push_back(std::move(dump.file));
    }
    place(state);
    for (const std::int32_t rank : mesh_.writers) {
      if (state.missing_ranks.size() == kMaxRanksListed) break;
      if (!seen.contains(rank)) state.missing_ranks.push_back(rank);
    }
    for (std::int32_t rank = 0; rank < args_.world; ++rank) {
      if (!seen.contains(rank) && !std::ranges::binary_search(mesh_.writers, rank)) {
        state.silent_ranks.push_back(rank);
      }
    }
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  std::optional<std::int32_t> rank_of(const MegatronDumpFile& file) const {
    const auto place = place_of(file.numbers, args_.pp > 1, args_.ep > 1);
    const auto rank = place ? mesh_.places.find(*place) : mesh_.places.end();
    return rank == mesh_.places.end() ? std::nullopt : std::optional(rank->second);
  }

  void take(const Dump& dump, const Layers& layers, RankFacts& facts, State& state) {
    for (const Finding& finding : dump.file->findings()) state.findings.push_back(finding);
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, dump.file->unclaimed());
    const std::int32_t rank = *rank_of(*dump.at);
    const std::size_t stage = Layers::stage_of(dump, args_);
    ChunkPlace place;
    if (args_.ep > 1) place.first_expert = checked_mul(dump.at->numbers.back(), experts_);
    std::int64_t seq = 0;
    for (std::size_t v = 0; v < dump.chunks.size(); ++v) {
      const Leaves& chunk = dump.chunks[v];
      place.first_layer = layers.before(v, stage);
      const auto record_at = [&](const Leaf& leaf) {
        return record_of_leaf(dump, leaf, place, {rank, seq++});
      };
      add_each(chunk.tensors, record_at, state);
      for (const Leaf& leaf : chunk.others) facts.take({fact_of(leaf)}, rank, state.facts);
      if (chunk.cut) say_cut(dump, state);
    }
    for (const Leaf& leaf : dump.beside.others) facts.take({fact_of(leaf)}, rank, state.facts);
    add_each(
        dump.beside.tensors,
        [&](const Leaf& leaf) { return record_of_leaf(dump, leaf, ChunkPlace{}, {rank, seq++}); },
        state);
    if (dump.beside.cut) say_cut(dump, state);
  }

  static void say_cut(const Dump& dump, State& state) {
    state.findings.push_back(damaged(dump.file->root().where(), "not every value was followed"));
  }

  /// Gradients of parameters come about from the last one to the first.
  Record record_of_leaf(const Dump& dump, const Leaf& leaf, const ChunkPlace& place,
                        const DumpedPlace& at) const {
    const std::string_view module = module_part(leaf.path);
    std::string name = global_megatron_name(module, place) + leaf.path.substr(module.size());
    const auto [phase, kind] = meaning_of(leaf.path, dump.at->kind);
    const DumpedPlace turned{at.rank, kind == Kind::main_grad ? -at.seq : at.seq};
    Record record = dumped_record(*dump.file, leaf.value, std::move(name), turned, mesh_.mesh);
    record.identity.phase = phase;
    record.kind = kind;
    record.at = mesh_.mesh.coordinates(at.rank);
    return record;
  }

  /// Parameters by the rules of checkpoints, activations as undeclared.
  void place(State& state) {
    if (args_.world == 1) return;
    MegatronArgs args = args_;
    args.swiglu = is_gated(state.records);
    MegatronPlacing placing(args, kVersion);
    for (Record& record : state.records) {
      if (record.kind == Kind::main_grad) {
        placing.place(record);
      } else {
        record.undeclared = true;
      }
    }
    placing.leave_out_unplaced(state);
  }

  const Root& root_;
  MegatronDumpFiles files_;
  MegatronArgs args_;
  std::int64_t experts_ = 0;  ///< of each rank
  MegatronMesh mesh_;
  std::vector<std::unique_ptr<const TorchFile>> opened_;  ///< what records point to
};

Run open_megatron_dump(const Probe& probe, const OpenOptions&) {
  const auto dump = std::make_shared<MegatronDump>(probe);
  return dump->open(probe, dump);
}

}  // namespace

const Format kMegatronDump = {"megatron-dump",
                              "gradients and activations that Megatron-LM saves while it trains",
                              bid_megatron_dump, open_megatron_dump};

}  // namespace ttcheck::formats
