// SPDX-License-Identifier: Apache-2.0
#include "core/diff/one_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/name_map.hpp"
#include "core/model/name_number.hpp"
#include "core/model/part_alone.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

/// Folds the findings of one part, in words: the first stays and counts the others. `parts`: of
/// each; empty: it stays as it is.
void fold(const std::vector<std::string>& parts, std::vector<std::size_t>& diverged,
          std::vector<Finding>& findings) {
  struct Part {
    std::size_t first = 0;
    std::int64_t more = 0;
  };
  std::map<std::string, Part> seen;
  std::vector<Finding> left;
  std::vector<std::size_t> of;
  left.reserve(findings.size());
  for (std::size_t n = 0; n < findings.size(); ++n) {
    if (!parts[n].empty()) {
      const auto [part, is_first] = seen.try_emplace(parts[n], Part{left.size()});
      if (!is_first) {
        ++part->second.more;
        continue;
      }
    }
    left.push_back(std::move(findings[n]));
    of.push_back(diverged[n]);
  }
  for (const auto& [words, part] : seen) {
    if (part.more > 0)
      left[part.first].message += fmt::format("; and {} more: {}", part.more, words);
  }
  findings = std::move(left);
  diverged = std::move(of);
}

/// "all 4 tensors of layers.2", for each layer that is beyond its limits as a whole where another
/// is not: several tensors, and at least half of what it has.
NameMap<std::string> whole_layers(const MetStep& met, std::span<const TensorResult> results) {
  struct Layer {
    std::int64_t wrong = 0, all = 0;

    bool is_wrong() const { return wrong > 2 && 2 * wrong >= all; }
  };
  NameMap<Layer> layers;
  for (const noise::RecordPair& pair : met.pairs) {
    const std::string_view name = layer_of(pair.reference->identity.name);
    if (!name.empty()) ++layers[std::string(name)].all;
  }
  for (const TensorResult& one : results) {
    if (one.outcome() != Outcome::diverged) continue;
    const auto layer = layers.find(layer_of(one.identity.name));
    if (layer != layers.end()) ++layer->second.wrong;
  }
  NameMap<std::string> words;
  const bool others =
      std::ranges::any_of(layers, [](const auto& one) { return one.second.wrong == 0; });
  if (!others) return words;
  for (const auto& [name, layer] : layers) {
    if (!layer.is_wrong()) continue;
    words[name] = layer.wrong == layer.all
                      ? fmt::format("all {} tensors of {}", layer.all, name)
                      : fmt::format("{} of {} tensors of {}", layer.wrong, layer.all, name);
  }
  return words;
}

}  // namespace

void fold_part(const MetStep& met, std::span<const TensorResult> results,
               std::span<const Finding> before, std::vector<std::size_t>& diverged,
               std::vector<Finding>& findings) {
  if (met.trace || findings.size() < 2) return;
  const bool weights = std::ranges::any_of(met.pairs, [](const noise::RecordPair& pair) {
    return pair.reference->kind == Kind::weight;
  });
  const std::string part = part_alone(results, before, std::ssize(met.pairs), weights);
  const NameMap<std::string> layers =
      part.empty() ? whole_layers(met, results) : NameMap<std::string>();
  std::vector<std::string> parts(findings.size());
  for (std::size_t n = 0; n < findings.size(); ++n) {
    if (verdict::names_cause(findings[n])) continue;
    parts[n] = part;
    if (findings[n].code != Code::diverged) continue;  // a place in it is told by itself
    const auto layer = layers.find(layer_of(findings[n].tensor));
    if (layer != layers.end()) parts[n] = layer->second;
  }
  fold(parts, diverged, findings);
}

}  // namespace ttcheck::diff
