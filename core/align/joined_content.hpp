// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of one side that are, joined, a tensor of the other: found by what they hold.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/align/box_map.hpp"
#include "core/align/contents.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Some tensors of one side.
struct Some {
  std::span<const Tensor> tensors;
  std::span<const std::size_t> indices;
};

struct Joined {
  std::size_t whole = 0;
  std::vector<std::size_t> parts;  ///< in the order of the map
  BoxMap map;
  std::string op;  ///< as the user would write it in a map
};

/// Finds those of `wholes` that two or more of `parts` make up byte for byte, each part of which is
/// used once: along the first axis, or as an op of queries, keys and values with known numbers has
/// it. Reads the first elements of each part, and all of a part that begins as the whole goes on.
/// REQUIRES tensors of one axis or more whose elements have whole bytes.
std::vector<Joined> joined_content(const Some& wholes, const Some& parts, const Numbers& numbers,
                                   const ContentOf& content);

}  // namespace ttcheck::align
