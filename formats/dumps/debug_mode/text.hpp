// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pieces of Python's printing that torch's DebugMode writes: tensors by dtype and shape, tuples,
// lists and dicts of numbers.

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::formats {

/// The parts into which commas outside of all brackets and quotes cut the text, each without the
/// blanks around it. Empty for empty text.
std::vector<std::string_view> split_items(std::string_view text);

/// What is between the outermost brackets of a tuple, list or dict; nothing for other text.
std::optional<std::string_view> inside_brackets(std::string_view text);

/// The value of a key of a dict, `{'hash': 28.0}`.
std::optional<std::string_view> dict_value(std::string_view dict, std::string_view key);

struct LoggedTensor {
  bool distributed = false;  ///< a DTensor: dtype and shape are of all ranks together
  DType dtype = DType::f32;
  Shape shape;
};

/// Reads `t$12: f32[4, 8]`, `dt: i64[]| R` (in quotes, where it stands in a list); nothing for what
/// is no tensor, or of a dtype that has no such word here.
std::optional<LoggedTensor> logged_tensor(std::string_view text);

}  // namespace ttcheck::formats
