// SPDX-License-Identifier: Apache-2.0
// hf-debug: what transformers' model_addition_debugger_context leaves of a forward pass: a call
// tree as JSON, `<Model>_debug_tree_FULL_TENSORS.json`, whose values are printed text or
// safetensors files beside it, and the same tree without values, `_SUMMARY.json`.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dumps/hf_debug/tree.hpp"
#include "formats/dumps/hf_debug/value.hpp"
#include "formats/dumps/torch_signatures.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFull = "_debug_tree_FULL_TENSORS.json";
constexpr std::string_view kSummary = "_debug_tree_SUMMARY.json";
constexpr std::string_view kFirstKey = "\"module_path\"";
constexpr std::uint64_t kMaxTree = std::uint64_t{1} << 30;

/// The model whose tree a file of that name is.
std::optional<std::string> model_of(std::string_view name) {
  for (const std::string_view ending : {kFull, kSummary}) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    return std::string(name);
  }
  return std::nullopt;
}

Bid bid_hf_debug(const Probe& probe) {
  if (probe.file.empty()) {
    const auto is_tree = [](const std::string& name) { return model_of(name).has_value(); };
    return std::ranges::any_of(probe.names, is_tree) ? Bid::call_trees : Bid::none;
  }
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  const std::size_t brace = head.find_first_not_of(" \r\n\t");
  if (brace == std::string_view::npos || head[brace] != '{') return Bid::none;
  const std::size_t key = head.find_first_not_of(" \r\n\t", brace + 1);
  if (key == std::string_view::npos || !head.substr(key).starts_with(kFirstKey)) return Bid::none;
  return Bid::call_tree;
}

class HfDebug {
 public:
  explicit HfDebug(const Probe& probe) : root_(probe.root) {
    if (!probe.file.empty()) {
      trees_ = {probe.file};
      return;
    }
    std::set<std::string> models;
    for (const std::string& name : probe.names) {
      if (const auto model = model_of(name)) models.insert(*model);
    }
    if (models.size() > 1) {
      throw Error(fmt::format("trees of several models, name the file of one: {}",
                              named({models.begin(), models.end()})),
                  {root_.given(), {}, {}});
    }
    model_ = *models.begin();
    for (const std::string_view ending : {kFull, kSummary}) {
      const std::string name = model_ + std::string(ending);
      if (std::ranges::find(probe.names, name) != probe.names.end()) trees_.push_back(name);
    }
  }

  Run open(const Probe& probe, const std::shared_ptr<HfDebug>& self) {
    Run run;
    run.format = "hf-debug";
    run.trace = true;
    run.steps = {std::nullopt};
    if (probe.file.empty()) {
      const Beside others = beside(probe, [&](const Entry& entry) { return is_ours(entry.path); });
      unclaimed_ = others.unclaimed;
      run.findings = findings_beside(others, root_);
    }
    run.open = [self](std::size_t) { return self->state(); };
    run.owner = self;
    return run;
  }

 private:
  bool is_ours(const std::string& name) const {
    return model_of(name) || (name.starts_with(model_) && name.ends_with(".safetensors"));
  }

  /// The state of the tree with the values or, where that is damaged, of the one without.
  State state() {
    State state;
    state.bytes_unclaimed = unclaimed_;
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      try {
        const JsonDocument tree(root_.text(trees_[i], kMaxTree),
                                root_.file(trees_[i]).where(0).file);
        take(debug_values(tree.root()), state);
        return state;
      } catch (const Error& error) {
        if (i + 1 == trees_.size()) throw;
        state.findings.push_back(unreadable(error));
        ++state.unreadable;
      }
    }
    return state;
  }

  void take(const std::vector<DebugValue>& values, State& state) {
    std::map<std::string_view, std::size_t> last_use;  // of a file that several calls have written
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const auto file = saved_file(values[i]); !file.empty()) last_use[file] = i;
    }
    std::map<std::pair<std::string_view, std::int32_t>, std::vector<std::string>> inputs;
    std::int64_t seq = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const DebugValue& value = values[i];
      if (!value.tensor) {
        add_fact(value, state);
        continue;
      }
      try {
        Record record = described_record(value);
        auto trace = std::make_shared<TraceRecord>(*record.trace);
        trace->seq = seq++;
        std::vector<std::string>& consumed = inputs[{value.module, value.call}];
        if (value.is_input()) {
          consumed.push_back("forward:" + record.identity.name);
        } else {
          trace->inputs = consumed;
          tell_op(value, *trace);
        }
        record.trace = std::move(trace);
        const auto file = saved_file(value);
        const bool overwritten = !file.empty() && last_use.at(file) != i;
        take_values(value, overwritten, record, state);
        state.records.push_back(std::move(record));
      } catch (const Error& error) {
        state.findings.push_back(unreadable(error, value.name()));
        ++state.unreadable;
      }
    }
    account(last_use, state);
  }

  /// The tree names no classes and holds no weights.
  static void tell_op(const DebugValue& value, TraceRecord& trace) {
    trace.op = op_of_submodule(value.module);
    if (trace.op.empty() || value.slot != "outputs") return;
    trace.call = OpCall{};
    trace.call->arguments = {std::string(value.module) + " inputs.args.0"};
    if (trace.op != "activation") trace.call->weight = std::string(value.module) + " weight";
  }

  static void add_fact(const DebugValue& value, State& state) {
    if (value.node.string() == "None") return;
    state.facts.push_back(
        {value.name(), std::string(value.node.string()), FactUse::note, value.node.where()});
  }

  /// Takes a record's values; where they cannot be had, it has its statistics alone.
  void take_values(const DebugValue& value, bool overwritten, Record& record, State& state) {
    const auto stored = value.node.find("value");
    if (!stored) return;
    if (overwritten) {
      ++overwritten_;
      return;
    }
    try {
      if (stored->is(Json::Kind::array)) {
        opened_.push_back(take_printed(*stored, record));
      } else {
        take_saved(root_.file(saved_file(value)), record, state.findings);
      }
      if (record.trace->left_out > 0) {
        ++partly_;
        left_out_ = checked_add(left_out_, record.trace->left_out);
      }
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(stored->where()), record.identity.name));
    }
  }

  /// What of the tree's values is not there, and files that it does not name.
  void account(const std::map<std::string_view, std::size_t>& used, State& state) {
    const Where where{root_.given(), {}, {}};
    if (partly_ > 0) {
      state.findings.push_back(remark(
          where, fmt::format("values printed in part: {}; {} of their elements are not there, what "
                             "is known of those is in mean, std, min and max",
                             partly_, left_out_)));
    }
    if (overwritten_ > 0) {
      state.findings.push_back(remark(
          where, fmt::format("values whose file a later call of their module wrote again: {}; of "
                             "these only statistics are there",
                             overwritten_)));
    }
    partly_ = left_out_ = overwritten_ = 0;
    if (model_.empty()) return;
    std::vector<std::string> left;
    for (const Entry& entry : root_.list()) {
      if (!is_ours(entry.path) || model_of(entry.path) || used.contains(entry.path)) continue;
      left.push_back(entry.path);
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, entry.size);
    }
    if (left.empty()) return;
    state.findings.push_back(remark(
        where,
        fmt::format("the tree does not name these values, which are not read: {}", named(left))));
  }

  const Root& root_;
  std::string model_;               ///< empty: a tree was given by its name
  std::vector<std::string> trees_;  ///< the one with values first
  std::uint64_t unclaimed_ = 0;
  std::int64_t partly_ = 0, left_out_ = 0, overwritten_ = 0;
  std::vector<std::unique_ptr<const Source>> opened_;  ///< what records point to
};

Run open_hf_debug(const Probe& probe, const OpenOptions&) {
  const auto debug = std::make_shared<HfDebug>(probe);
  return debug->open(probe, debug);
}

}  // namespace

const Format kHfDebug = {"hf-debug", "a forward pass's call tree, by transformers' model debugger",
                         bid_hf_debug, open_hf_debug};

}  // namespace ttcheck::formats
