// SPDX-License-Identifier: Apache-2.0
#include "core/compare/channels.hpp"

namespace ttcheck::compare {

std::optional<Channels> channels_of(const Shape& shape, std::int64_t count) {
  if (count <= 0 || shape.empty()) return std::nullopt;
  if (shape.back() == count) return Channels{count, 1};
  if (shape.size() < 3 || shape[1] != count) return std::nullopt;
  const std::int64_t inner = element_count(Shape(shape.begin() + 2, shape.end()));
  return inner > 0 ? std::optional(Channels{count, inner}) : std::nullopt;
}

}  // namespace ttcheck::compare
