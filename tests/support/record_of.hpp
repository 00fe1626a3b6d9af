// SPDX-License-Identifier: Apache-2.0
#pragma once
// One rank's record of a tensor, as a format would hand it out, without bytes.

#include <string>
#include <utility>

#include "core/model/record.hpp"

namespace ttcheck::tests {

inline Record record_of(std::string name, Shape shape, std::int32_t rank = kNoRank) {
  Record record;
  record.identity.name = std::move(name);
  record.shape = std::move(shape);
  record.piece.rank = rank;
  record.piece.dtype = record.dtype;
  return record;
}

/// Of a rank's array of which nothing says how it makes the tensor.
inline Record undeclared_record(std::string name, Shape shape, std::int32_t rank) {
  Record record = record_of(std::move(name), std::move(shape), rank);
  record.undeclared = true;
  return record;
}

}  // namespace ttcheck::tests
