// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which call of which op made a record, and what went into it: what the format tells of the call
// or, where it tells nothing, the recorded `inputs`, what went into the module, its parameters, and
// for gradients the calls that consumed a value.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/earlier.hpp"
#include "core/model/tensor.hpp"
#include "core/recompute/formula.hpp"

namespace ttcheck::recompute {

/// One call whose result (or an addend of it) a record is. Null: not recorded.
struct Maker {
  const Tensor* record = nullptr;  ///< an output of the call: it names op and attributes
  Target::Part part = Target::Part::output;
  std::size_t slot = 0;
  std::vector<const Tensor*> arguments;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  std::vector<const Tensor*> gradients;  ///< that arrived at its outputs, by slot
};

/// One side of one step of a trace.
class Graph {
 public:
  /// Both must outlive it. A parameter that the step itself does not record is what the update of
  /// the step before left, where that was recorded: otherwise an update may lie between.
  Graph(std::span<const Tensor> tensors, const Parameters& earlier,
        std::optional<std::int64_t> step);

  /// The calls whose results add up to the record: an output has one, a gradient as many as
  /// consumed its value, in the order of the records. Empty where it cannot be told.
  std::vector<Maker> makers_of(const Tensor& record) const;

 private:
  struct Use {
    const Tensor* record = nullptr;
    Target::Part part = Target::Part::argument;
    std::size_t slot = 0;
  };

  /// Records of one name and micro-batch; none where there are very many.
  std::span<const Tensor* const> named(std::string_view name, std::int32_t microbatch) const;
  const Tensor* value(std::string_view text, const Tensor& user) const;
  const Tensor* parameter(std::string_view name) const;
  const Tensor* only(std::string_view name, Phase phase, std::int32_t microbatch) const;
  const Tensor* value_made(std::string_view name, std::int32_t microbatch) const;
  const Tensor* beside(const std::string& name, const Tensor& record) const;
  Maker maker(const Tensor& record, Target::Part part, std::size_t slot) const;
  const Tensor* same_rank(std::string_view name, const Tensor& record) const;
  Maker stated_maker(const Tensor& record) const;
  void take_stated(const Tensor& record, Maker& maker) const;
  void take_gradients(Maker& maker) const;
  std::vector<Maker> consumers_of(const Tensor& gradient) const;
  std::vector<Maker> users_of(std::string_view parameter, std::int32_t microbatch) const;
  void note_uses(const Tensor& record);

  const Parameters& earlier_;
  std::optional<std::int64_t> step_;
  std::map<std::pair<std::string_view, std::int32_t>, std::vector<const Tensor*>> by_name_;
  std::unordered_map<const Tensor*, std::vector<Use>> uses_;  ///< of values, by forward calls
  std::map<std::string, std::vector<Use>, std::less<>> parameter_uses_;
  NameSet gradients_;  ///< parameters of which backward recorded one, of the first micro-batch
};

}  // namespace ttcheck::recompute
