// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a torch file states beside its tensors, as facts.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/box.hpp"
#include "core/model/fact.hpp"
#include "core/model/piece.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

class TorchFile;

/// The leaf as a fact: numbers and text as they are, lists of a few scalars in Python's spelling,
/// longer ones and arrays by size and hash of their values, anything else by its class. What cannot
/// be read is `unread`.
Fact fact_of(const Leaf& leaf);

/// What hashing the tensors of one file may cost together. It grows with the file's bytes: views
/// may say those of a storage again and again.
class HashBudget {
 public:
  explicit HashBudget(const TorchFile& file);
  /// Charges so many bytes; false, and nothing is charged, when that is too much.
  bool take(std::uint64_t bytes);

 private:
  std::uint64_t left_;
};

/// Makes a fact of a tensor that states something of the run (a generator's state): dtype, shape
/// and hash of its values; of one element the number. Throws Error when its bytes cannot be read,
/// or are more than the budget has left.
Fact fact_of_tensor(const TorchFile& file, const Leaf& leaf, HashBudget& budget);

/// What an array states: dtype, shape and hash of its values; of one element the number, unless it
/// is complex. Throws Error when its bytes cannot be read, and for one of more than 1 GiB.
FactValue value_of_array(const Piece& piece, DType dtype, const Shape& shape);

/// Whether a fact of that name shapes the function or the update, so that runs are compared by it;
/// generators' states are opaque.
FactUse use_of(std::string_view name);

}  // namespace ttcheck::formats
