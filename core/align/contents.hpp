// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tensors hold, for the rules that go by it. Whoever can read them fills it in.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// What the elements of a range of a tensor hash to, and whether they are all the same.
struct Content {
  std::string hash;
  bool constant = false;
};

/// Gives the Content of elements [begin, begin + count), row-major; nothing where they cannot be
/// read, or not all are there. An empty function reads nothing.
using ContentOf = std::function<std::optional<Content>(const Tensor& tensor, std::int64_t begin,
                                                       std::int64_t count)>;

/// The values of these elements, likewise; nothing of complex ones.
using ValuesOf = std::function<std::optional<std::vector<double>>(
    const Tensor& tensor, std::int64_t begin, std::int64_t count)>;

}  // namespace ttcheck::align
