// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/limits/limits_file.hpp"
#include "core/model/toml_reader.hpp"

namespace ttcheck::limits {
namespace {

/// One limits text on its way to a LimitsFile.
class LimitsReader : TomlReader {
 public:
  LimitsReader(std::string_view text, const std::string& file) : TomlReader(text, file) {
    limits_.file = file;
  }

  LimitsFile read() {
    const toml::table root = document();
    keys(root, {"limits", "m", "m0", "calibrated", "states", "tensor"}, "a limits file");
    const toml::node* version = root.get("limits");
    if (version == nullptr) fail(root, "limits = 1 is missing");
    if (version->value_exact<std::int64_t>() != 1) {
      fail(*version,
           "unknown version of the limits file; expected 1: ttcheck calibrate writes a new one");
    }
    limits_.m = number(root, "m").value_or(kDefaultM);
    limits_.m0 = number(root, "m0").value_or(kDefaultM0);
    if (const toml::table* origin = table(root, "calibrated")) read_origin(*origin);
    if (const toml::table* states = table(root, "states")) read_states(*states);
    for (const toml::table* one : tables(root, "tensor")) read_entry(*one);
    return std::move(limits_);
  }

 private:
  /// A number that is finite and not below 0.
  std::optional<double> number(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value < 0) {
      fail(*node, fmt::format("{} must be a number not below 0", key));
    }
    return *value + 0.0;  // -0 would be printed as a whole number, which has no such zero
  }

  std::int64_t count(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return 0;
    const auto* value = node->as_integer();
    if (value == nullptr || value->get() < 0) fail(*node, fmt::format("{} must be a count", key));
    return value->get();
  }

  void read_origin(const toml::table& origin) {
    keys(origin, {"tool", "reference", "runs", "perturbations", "comparisons"}, "[calibrated]");
    if (origin.contains("tool")) limits_.origin.tool = string(origin, "tool");
    if (origin.contains("reference")) limits_.origin.reference = string(origin, "reference");
    limits_.origin.runs = strings(origin, "runs");
    limits_.origin.perturbations = strings(origin, "perturbations");
    limits_.origin.comparisons = count(origin, "comparisons");
  }

  void read_states(const toml::table& states) {
    keys(states, {"weights", "least", "moments", "biases"}, "[states]");
    const auto weights = number(states, "weights");
    if (!weights) fail(states, "weights is missing: how far those of correct runs are apart");
    limits_.states =
        MeasuredStates{*weights, number(states, "moments"), {}, number(states, "least")};
    const toml::table* biases = table(states, "biases");
    if (biases == nullptr) return;
    for (const auto& [part, node] : *biases) {
      limits_.states->biases[std::string(part.str())] = *number(*biases, part.str());
    }
  }

  Phase phase(const toml::table& one) const {
    if (!one.contains("phase")) return Phase::none;
    const toml::node& node = string_node(one, "phase");
    const auto phase = phase_named(node.as_string()->get());
    if (!phase || *phase == Phase::none) {
      fail(node,
           "unknown phase; expected state, forward, loss, backward, sync, clip, optimizer or "
           "comm");
    }
    return *phase;
  }

  void read_entry(const toml::table& one) {
    keys(one, {"match", "phase", "d", "row", "outlier", "eps", "samples", "p50", "p90"},
         "[[tensor]]");
    LimitEntry entry;
    entry.match = string(one, "match");
    entry.glob = glob(string_node(one, "match"));
    entry.phase = phase(one);
    const auto d = number(one, "d");
    if (!d) fail(one, "d is missing: the largest error between correct runs");
    entry.d = *d;
    entry.row = number(one, "row").value_or(0);
    entry.outlier = number(one, "outlier").value_or(0);
    entry.eps = number(one, "eps");
    entry.samples = count(one, "samples");
    entry.p50 = number(one, "p50");
    entry.p90 = number(one, "p90");
    if (const auto name = literal_of(entry.match)) {
      limits_.by_name[*name].push_back(limits_.entries.size());
    } else {
      limits_.with_wildcards.push_back(limits_.entries.size());
    }
    limits_.entries.push_back(std::move(entry));
  }

  LimitsFile limits_;
};

}  // namespace

LimitsFile parse_limits(std::string_view text, const std::string& file) {
  return LimitsReader(text, file).read();
}

}  // namespace ttcheck::limits
