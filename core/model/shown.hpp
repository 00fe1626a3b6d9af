// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `show` tells of its tensor beside the verdict's result.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/profile.hpp"

namespace ttcheck {

/// A part of the tensor, and where it is stored.
struct StoredPart {
  std::int32_t rank = -1;  ///< -1: the format has no ranks
  std::string_view role;   ///< "piece" "replica" "addend" "addend-replica"
  DType dtype = DType::f32;
  Box box;                 ///< the first of its boxes
  std::int64_t boxes = 1;  ///< that it fills
  Where where;
};

/// The verdict's only result says what tensor it is.
struct Shown {
  std::string dims;    ///< as the files state them; empty: they do not
  std::string choice;  ///< which of several steps and records it is, and why; empty: it is the only
  std::vector<StoredPart> parts;   ///< of the candidate or the only run
  std::vector<std::string> hints;  ///< what catches the eye, in words
  std::optional<Profile> profile;  ///< none where bytes were not stored or cannot be read
};

}  // namespace ttcheck
