// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the arguments of a distributed checkpoint of Megatron core say of its tensors, held against
// these: shapes, numbers of layers and experts.

#include <cstdint>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/core/chunk.hpp"
#include "formats/megatron/cross_check.hpp"

namespace ttcheck::formats {

class StoredCheck {
 public:
  /// `args` must outlive it.
  explicit StoredCheck(const MegatronArgs& args) : args_(args), shapes_(args) {}

  /// A weight of shape `whole`, stacked axes in front. TT307 where it is not as stated; once for
  /// each tensor of a layer.
  void add(const MegatronKey& key, const Shape& whole, const Where& where,
           std::vector<Finding>& findings);

  /// TT302 where the decoder has another number of layers. Ask when all weights were added.
  void finish(const Where& where, std::vector<Finding>& findings) const;

 private:
  const MegatronArgs& args_;
  ShapeCheck shapes_;
  std::int64_t layers_ = 0;  ///< of the decoder: the highest number and one
  bool other_layers_ = false, said_experts_ = false;
};

}  // namespace ttcheck::formats
