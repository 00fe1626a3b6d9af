// SPDX-License-Identifier: Apache-2.0
// debugmode: logs of torch.utils._debug_mode.DebugMode, one file or one a rank (`rank-00000.txt`),
// as debug_string() gives them. There are no values, only what log_tensor_hashes wrote of them: L1
// norms, XOR reductions, or both. A module is named once in the log, and in the records of all its
// operations: where such text is out of all proportion to the logs, the rest of one is left out.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dumps/debug_mode/log.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

/// Text of names in the records of all logs: so much, and so much more for each byte of them. An
/// honest byte needs about ten; an op on lists has all its inputs at each output, which are 20 MB
/// for 500 tensors (`_foreach_sqrt`).
constexpr std::uint64_t kFreeText = std::uint64_t{256} << 20;
constexpr std::uint64_t kTextPerByte = 64;
constexpr std::uint64_t kAroundName = 64;  ///< numbers, words, and the string itself

/// The rank of `rank-00001.txt`, `rank_1.log`, `debug_mode_rank1.txt`.
std::optional<std::int32_t> rank_of_log(std::string_view name) {
  const bool text = name.ends_with(".txt") || name.ends_with(".log");
  if (!text || name.find("rank") == std::string_view::npos) return std::nullopt;
  const auto number = trailing_number(name.substr(0, name.rfind('.')));
  if (!number || *number >= kMostRanks) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::string head_of_file(const Root& root, const std::string& name) {
  constexpr std::uint64_t kHead = std::uint64_t{64} << 10;
  const Source& file = root.file(name);
  std::string head(std::min(kHead, file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(head)));
  return head;
}

Bid bid_debugmode(const Probe& probe) {
  if (!probe.file.empty()) {
    const std::string_view head(reinterpret_cast<const char*>(probe.head.data()),
                                probe.head.size());
    return is_debug_mode(head) ? Bid::debug_mode_log : Bid::none;
  }
  try {
    for (const std::string& name : probe.names) {
      if (rank_of_log(name))
        return is_debug_mode(head_of_file(probe.root, name)) ? Bid::debug_mode_logs : Bid::none;
    }
  } catch (const Error&) {
    return Bid::none;
  }
  return Bid::none;
}

/// Bytes that say nothing of a run: memory that was not written yet, by an allocation or by a
/// collective that is still under way.
bool is_unwritten(const LoggedOp& op) {
  const std::string_view name = op.name;
  if (name.starts_with("_c10d_functional::")) return name != "_c10d_functional::wait_tensor";
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty");
}

/// True for an op of torch that copies values or looks at them in another way.
bool moves_values(std::string_view name) {
  constexpr std::string_view kLibrary = "aten::";
  constexpr std::array<std::string_view, 24> kMoves = {
      "view",   "_unsafe_view", "reshape", "t",          "transpose", "permute",
      "expand", "detach",       "alias",   "unsqueeze",  "squeeze",   "slice",
      "select", "split",        "clone",   "contiguous", "_to_copy",  "lift_fresh",
      "chunk",  "unbind",       "narrow",  "copy_",      "flatten",   "split_with_sizes"};
  if (!name.starts_with(kLibrary)) return false;
  name.remove_prefix(kLibrary.size());
  return std::ranges::find(kMoves, name.substr(0, name.find('.'))) != kMoves.end();
}

/// The placement of a tensor whose values say nothing.
std::shared_ptr<const Placement> uncompared() {
  static const auto placement = std::make_shared<const Placement>(parse_dims("* # rep=any"));
  return placement;
}

/// At most so much text is in the records of an op: the module and the op are in the name of each
/// and beside it, and outputs name the inputs.
std::uint64_t text_of_records(const LoggedOp& op) {
  const auto hashed = [](const auto& values) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        values, [](const auto& value) { return value && !value->hash.empty(); }));
  };
  const std::uint64_t inputs = hashed(op.inputs), outputs = hashed(op.outputs);
  const std::uint64_t times = 1 + 2 * (inputs + outputs) + checked_mul(inputs, outputs);
  return checked_mul(op.module.size() + op.name.size() + kAroundName, times);
}

class DebugModeRun {
 public:
  explicit DebugModeRun(const Probe& probe) : root_(probe.root) {
    if (!probe.file.empty()) {
      files_.emplace(0, probe.file);
      return;
    }
    for (const std::string& name : probe.names) {
      const auto rank = rank_of_log(name);
      if (rank) files_.emplace(*rank, name);
    }
  }

  Run open(const Probe& probe, const std::shared_ptr<DebugModeRun>& self) {
    Run run;
    run.format = "debugmode";
    run.trace = true;
    run.steps = {std::nullopt};
    if (probe.file.empty()) {
      const Beside others = beside(probe, [&](const Entry& entry) {
        const auto rank = rank_of_log(entry.path);
        return rank && files_.at(*rank) == entry.path;
      });
      unclaimed_ = others.unclaimed;
      run.findings = findings_beside(others, root_);
    }
    run.open = [self](std::size_t) { return self->state(); };
    run.owner = self;
    return run;
  }

 private:
  State state() {
    State state;
    state.bytes_unclaimed = unclaimed_;
    bool hashed = false;
    Where start{root_.given(), {}, {}};
    std::uint64_t room = kFreeText;
    for (const auto& [rank, name] : files_) {
      try {
        const Source& file = root_.file(name);
        DebugModeLog log = read_debug_mode(file);
        hashed = hashed || log.hashed;
        start = file.where(0);
        check(log, file, state);
        room = checked_add(room, checked_mul(kTextPerByte, file.size()));
        take(log, file, rank, room, state);
      } catch (const Error& error) {
        state.unreadable_ranks.emplace(rank, error.at({root_.given() + "/" + name, {}, {}}));
      }
    }
    state.least_ranks =
        std::max(state.least_ranks, static_cast<std::int64_t>(files_.rbegin()->first) + 1);
    for (std::int32_t rank = 0; rank < files_.rbegin()->first; ++rank) {
      if (state.missing_ranks.size() == kMaxRanksListed) break;
      if (!files_.contains(rank)) state.missing_ranks.push_back(rank);
    }
    if (!hashed) {
      state.findings.push_back(damaged(start,
                                       "the log holds operations and no hashes of their tensors "
                                       "(DebugMode.log_tensor_hashes): nothing to compare"));
    }
    return state;
  }

  static void check(const DebugModeLog& log, const Source& file, State& state) {
    if (log.not_ours > 0) {
      state.findings.push_back(
          damaged(file.where(log.first_odd),
                  fmt::format("lines that are none of DebugMode's: {}", log.not_ours)));
      ++state.unreadable;
    }
  }

  /// Says what is left out as a limit.
  static void leave_out(std::span<const LoggedOp> ops, const Source& file, State& state) {
    state.findings.push_back(
        beyond(file.where(ops.front().offset),
               fmt::format("limit reached: names of modules and operations are longer than the log "
                           "accounts for; operations left out from here on: {}",
                           ops.size())));
    state.unreadable += std::ssize(ops);
  }

  void take(const DebugModeLog& log, const Source& file, std::int32_t rank, std::uint64_t& room,
            State& state) {
    std::map<std::tuple<Phase, std::string_view, std::string_view>, std::int64_t> counts;
    std::int64_t seq = 0;
    if (log.one_of_several) state.least_ranks = std::max<std::int64_t>(state.least_ranks, 2);
    const bool several = files_.size() > 1 || log.one_of_several;
    for (std::size_t at = 0; at < log.ops.size(); ++at) {
      const LoggedOp& op = log.ops[at];
      const std::uint64_t text = text_of_records(op);
      if (text > room) return leave_out(std::span(log.ops).subspan(at), file, state);
      room -= text;
      const std::int64_t number = counts[{op.phase, op.module, op.name}]++;
      const std::string stem =
          fmt::format("{}{}{}.{}/", op.module, op.module.empty() ? "" : "/", op.name, number);
      std::vector<std::string> inputs;
      for (const bool output : {false, true}) {
        const auto& values = output ? op.outputs : op.inputs;
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (!values[i] || values[i]->hash.empty()) continue;
          Record record = record_of_value(op, *values[i], file, rank, several);
          record.identity.name = fmt::format("{}{}.{}", stem, output ? "output" : "input", i);
          record.kind = output ? Kind::output : Kind::input;
          auto trace = std::make_shared<TraceRecord>(*record.trace);
          trace->seq = seq++;
          if (output) {
            trace->inputs = inputs;
          } else {
            inputs.push_back(fmt::format("{}:{}", name(op.phase), record.identity.name));
          }
          record.trace = std::move(trace);
          state.records.push_back(std::move(record));
        }
      }
    }
  }

  static Record record_of_value(const LoggedOp& op, const LoggedValue& value, const Source& file,
                                std::int32_t rank, bool several) {
    Record record;
    record.identity.phase = op.phase;
    record.dtype = record.piece.dtype = value.tensor.dtype;
    record.shape = value.tensor.shape;
    record.stored = false;
    record.undeclared = several;
    record.piece.source = &file;
    record.piece.offset = op.offset;
    record.piece.rank = rank;
    auto trace = std::make_shared<TraceRecord>();
    trace->op = op.name;
    trace->hash = (value.norm ? "norm:" : "hash:") + value.hash;
    trace->counted = {op.name, std::string(op.module), moves_values(op.name)};
    if (value.norm) {
      StoredStats stats;
      stats.l1 = *value.norm;
      stats.numel = element_count(record.shape);
      trace->stats = stats;
    }
    if (is_unwritten(op)) record.placement = uncompared();
    record.trace = std::move(trace);
    return record;
  }

  const Root& root_;
  std::map<std::int32_t, std::string> files_;  ///< by rank
  std::uint64_t unclaimed_ = 0;
};

Run open_debugmode(const Probe& probe, const OpenOptions&) {
  const auto run = std::make_shared<DebugModeRun>(probe);
  return run->open(probe, run);
}

}  // namespace

const Format kDebugMode = {"debugmode", "operations and hashes that torch's DebugMode logs",
                           bid_debugmode, open_debugmode};

}  // namespace ttcheck::formats
