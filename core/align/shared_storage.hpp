// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters that are one: torch.save keeps both names of a tied weight and its bytes once, where
// save_pretrained keeps one name.

#include <cstddef>
#include <span>
#include <unordered_map>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Which tensors of a checkpoint lie in the same bytes. They outlive it.
class SharedStorage {
 public:
  /// `alone`: those that are looked for, ascending.
  SharedStorage(std::span<const Tensor> tensors, std::span<const std::size_t> alone);

  /// A tensor that is not alone, of that shape, in the very bytes of tensors[i]; or null.
  const Tensor* twin_of(std::size_t i) const;

 private:
  std::span<const Tensor> tensors_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_offset_;  ///< of the first piece
};

}  // namespace ttcheck::align
