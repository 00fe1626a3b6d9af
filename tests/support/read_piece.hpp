// SPDX-License-Identifier: Apache-2.0
#pragma once
// Touches the bytes of a piece, as a comparison would.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/piece.hpp"

namespace ttcheck::tests {

/// Reads the first bytes of what the piece names, an Error aside. Aborts when its offset is not
/// within the source, which a reader must have checked.
inline void read_piece(const Piece& piece) {
  constexpr std::uint64_t kAtMost = 1 << 16;
  if (piece.source == nullptr) return;
  if (piece.offset > piece.source->size()) std::abort();
  std::vector<std::byte> out(std::min(piece.source->size() - piece.offset, kAtMost));
  try {
    piece.source->read(piece.offset, out);
  } catch (const Error&) {
  }
}

}  // namespace ttcheck::tests
