// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Python literal in the header of an .npy file: a dict of exactly `descr`, `fortran_order` and
// `shape`. Read by a fixed grammar; nothing is evaluated.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/box.hpp"

namespace ttcheck::formats {

/// A dtype as written. A structured one has fields instead of a code.
struct NpyDescr {
  std::string text;              ///< as in the file
  std::string code;              ///< `<f4`; empty: structured
  std::uint64_t item_bytes = 0;  ///< 0 also for objects, whose size is not in the header
  bool object = false;           ///< it, or a field of it, is a pickled object
};

struct NpyLiteral {
  NpyDescr descr;
  bool fortran_order = false;
  Shape shape;
};

/// Parses `text`, which begins at `where`. Throws Error with the offset of what is wrong.
NpyLiteral parse_npy_literal(std::string_view text, const Where& where);

}  // namespace ttcheck::formats
