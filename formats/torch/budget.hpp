// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the walks over one pickle may cost together. Values may be shared, so that a short pickle
// has a great many paths, and each of them may lead to the same long text or array.

#include <cstddef>
#include <cstdint>

#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// A budget that grows with the pickle's bytes; one for all walks over it.
class WalkBudget {
 public:
  explicit WalkBudget(const Pickle& pickle);

  /// One that grows with so many bytes, of several pickles.
  explicit WalkBudget(std::uint64_t pickled);

  /// Charges what telling a leaf from a container, and printing a leaf, looks at: the value, its
  /// children, arguments (named ones, too) and state three levels deep, and the bytes of their
  /// text, arrays and byte strings. False when that is too much; then all later answers are false,
  /// too.
  bool look_at(Value value);

  /// Charges a leaf that is kept under a path of so many bytes.
  bool keep(std::size_t path_bytes);

  bool spent() const { return spent_; }

 private:
  bool take(std::uint64_t& left, std::uint64_t cost);
  bool look(Value value, int depth);
  bool look_within(Value value, int depth);
  bool look_at_children(Value value, int depth);

  std::uint64_t steps_;
  std::uint64_t bytes_;
  bool spent_ = false;
};

}  // namespace ttcheck::formats
