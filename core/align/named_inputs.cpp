// SPDX-License-Identifier: Apache-2.0
#include "core/align/named_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

/// What a call of a module is found by.
using Call = std::tuple<std::string_view, std::int64_t, std::int64_t>;  // module, micro-batch, call

/// The forward records of one side.
class Side {
 public:
  explicit Side(std::span<const Tensor> tensors) : tensors_(tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = tensors[i];
      const Identity& own = tensor.identity;
      if (own.phase != Phase::forward || is_counted(tensor)) continue;
      const auto [known, fresh] = by_name_.try_emplace({own.name, own.microbatch}, i);
      if (!fresh) known->second.reset();  // of several calls the name tells none
      if (tensor.kind != Kind::output || !tensor.trace || tensor.trace->inputs.empty()) continue;
      ops_.emplace(Call{module_of(own), own.microbatch, own.call}, i);
    }
  }

  /// The record that the op took as its input of that place, if it names one.
  std::optional<std::size_t> taken(const Identity& input, std::size_t place) const {
    const auto op = ops_.find(Call{module_of(input), input.microbatch, input.call});
    if (op == ops_.end()) return std::nullopt;
    const auto& inputs = tensors_[op->second].trace->inputs;
    if (place >= inputs.size()) return std::nullopt;
    const auto record = by_name_.find({inputs[place], input.microbatch});
    return record == by_name_.end() ? std::nullopt : record->second;
  }

 private:
  std::span<const Tensor> tensors_;
  std::map<std::pair<std::string_view, std::int64_t>, std::optional<std::size_t>> by_name_;
  std::map<Call, std::size_t> ops_;
};

/// 0 of `module/input.0`; nothing where the slot is no number, or it is no input of a forward pass,
/// or of an op that is named by a counter, which may be another one in the other run.
std::optional<std::size_t> place_of(const Tensor& tensor) {
  const std::string_view name = tensor.identity.name;
  const std::string_view slot = name.substr(name.rfind('.') + 1);
  const bool forward = tensor.identity.phase == Phase::forward && !is_counted(tensor);
  if (tensor.kind != Kind::input || !forward) return std::nullopt;
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(slot.data(), slot.data() + slot.size(), place);
  const bool whole = error == std::errc() && end == slot.data() + slot.size();
  return whole ? std::optional(place) : std::nullopt;
}

}  // namespace

void pair_named_inputs(Bench& bench) {
  const auto is_input = [](std::span<const Tensor> tensors) {
    return [tensors](std::size_t i) { return place_of(tensors[i]).has_value(); };
  };
  const auto pair = [&](std::vector<std::size_t>& alone, std::span<const Tensor> own,
                        std::span<const Tensor> others, bool is_reference) {
    if (std::ranges::none_of(alone, is_input(own))) return;
    const Side other(others);
    std::erase_if(alone, [&](std::size_t i) {
      const auto place = place_of(own[i]);
      const auto taken = place ? other.taken(own[i].identity, *place) : std::nullopt;
      if (!taken || others[*taken].shape != own[i].shape) return false;
      const std::string rule(kNamedInput);
      bench.done.pairs.push_back(is_reference ? PairIndex{i, *taken, rule}
                                              : PairIndex{*taken, i, rule});
      return true;
    });
  };
  pair(bench.left, bench.reference, bench.candidate, true);
  pair(bench.right, bench.candidate, bench.reference, false);
}

}  // namespace ttcheck::align
