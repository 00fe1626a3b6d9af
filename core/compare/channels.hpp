// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the channels of an op's output lie.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/model/tensor.hpp"

namespace ttcheck::compare {

/// Which channel an element of an output is of.
struct Channels {
  std::int64_t count = 0, inner = 1;  ///< and how many elements of one lie together

  std::size_t of(std::int64_t at) const { return static_cast<std::size_t>(at / inner % count); }
};

/// The dim of that extent: the last one or, of images, that behind the batch. Nothing where neither
/// is.
std::optional<Channels> channels_of(const Shape& shape, std::int64_t count);

}  // namespace ttcheck::compare
