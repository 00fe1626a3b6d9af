// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/optimizer.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxChain = 4096;
constexpr std::string_view kUsual = "optimizer";

class Reader {
 public:
  Reader(const MegatronOptimizer& optimizer, WalkBudget& budget, State& state)
      : optimizer_(optimizer), budget_(budget), state_(state) {}

  Leaves read() {
    const auto chain = sequence(optimizer_.value);
    if (!chain || chain->empty()) {
      read_one(optimizer_.value, std::string(kUsual), std::nullopt);
      return std::move(leaves_);
    }
    const bool apart = chain->size() == 2 && optimizer_.experts_apart;
    for (std::size_t i = 0; i < chain->size() && i < kMaxChain; ++i) {
      read_one((*chain)[i], fmt::format("{}.{}", kUsual, i),
               apart ? std::optional<bool>(i == 1) : std::nullopt);
    }
    return std::move(leaves_);
  }

 private:
  /// Parameters in the model's order: of experts or of the others alone where that is known, those
  /// that have an fp32 copy alone where they are `narrow`.
  std::vector<Candidate> candidates(std::optional<bool> expert, bool narrow) const {
    std::vector<Candidate> all;
    for (const BufferParameter& one : optimizer_.parameters) {
      if (expert && one.expert != *expert) continue;
      if (!narrow || bits(one.weight.dtype) < 32) all.push_back({one.name, one.weight.shape});
    }
    return all;
  }

  void read_one(Value value, const std::string& prefix, std::optional<bool> expert) {
    const auto pairs = mapping(value);
    if (!pairs) return;
    const std::vector<Candidate> all = candidates(expert, false);
    if (is_optimizer(value)) return add_state(value, prefix, all);
    for (const auto& [key, inner] : *pairs) {
      const std::string name = path_part(key);
      if (is_optimizer(inner)) {
        add_state(inner, prefix, all);
      } else if (name == "fp32_from_fp16_params") {
        add_masters(inner, candidates(expert, true), prefix);
      } else if (const auto parts = mapping(inner); parts && name == "optimizer") {
        for (const auto& [part, held] : *parts) {
          const std::string word = path_part(part);
          add_leaves(held, prefix + "." + (word == "param_groups" ? "groups" : word), false,
                     budget_, leaves_);
        }
      } else {
        add_leaves(inner, prefix + "." + name, false, budget_, leaves_);
      }
    }
  }

  void add_state(Value value, const std::string& prefix, const std::vector<Candidate>& all) {
    const std::size_t first = state_.facts.size();
    add_optimizers(optimizer_.file, {{value, prefix, ""}}, all, budget_, leaves_, facts_, state_);
    for (std::size_t i = first; i < state_.facts.size() && prefix != kUsual; ++i) {
      std::string& name = state_.facts[i].name;
      if (name.starts_with(kUsual)) name.replace(0, kUsual.size(), prefix);
    }
  }

  /// fp32 copies, a list a group, in the order of the group's 16-bit parameters
  /// (Float16OptimizerWithFloat16Params).
  void add_masters(Value lists, const std::vector<Candidate>& all, const std::string& prefix) {
    std::vector<std::vector<Value>> groups;
    std::vector<std::vector<Shape>> shapes;
    for (const Value& list : sequence(lists).value_or(std::vector<Value>())) {
      groups.push_back(sequence(list).value_or(std::vector<Value>()));
      std::vector<Shape>& own = shapes.emplace_back();
      for (const Value& item : groups.back()) own.push_back(shape_of(item));
    }
    bool ambiguous = false;
    const auto matched = match_groups(shapes, all, ambiguous);
    if (matched.empty() && !groups.empty()) {
      state_.findings.push_back(odd(lists.where(),
                                    "fp32 copies of parameters fit no order of the parameters",
                                    Code::name_mapping));
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t i = 0; i < groups[g].size(); ++i) {
        const std::string name = matched.empty()
                                     ? fmt::format("{}.fp32_from_fp16_params.{}.{}", prefix, g, i)
                                     : all[matched[g][i]].name + "@master";
        add_leaves(groups[g][i], name, false, budget_, leaves_);
      }
    }
  }

  Shape shape_of(Value value) const {
    try {
      if (TorchFile::is_tensor(value)) return optimizer_.file.tensor(value).shape;
    } catch (const Error&) {
      return kAnyShape;  // said where the tensor itself is read
    }
    return kAnyShape;
  }

  const MegatronOptimizer& optimizer_;
  WalkBudget& budget_;
  State& state_;
  FactAdder facts_{optimizer_.file, state_};
  Leaves leaves_;
};

}  // namespace

Leaves read_megatron_optimizer(const MegatronOptimizer& optimizer, WalkBudget& budget,
                               State& state) {
  return Reader(optimizer, budget, state).read();
}

}  // namespace ttcheck::formats
