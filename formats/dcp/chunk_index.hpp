// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chunks of a distributed checkpoint's table by tensor and place: a table may have a million.

#include <cstddef>
#include <memory>
#include <vector>

#include "formats/dcp/table.hpp"

namespace ttcheck::formats {

class ChunkIndex {
 public:
  ChunkIndex() = default;

  /// REQUIRES that the tensors and their chunks stay where they are.
  explicit ChunkIndex(const std::vector<DcpTensor>& tensors);

  /// The chunk of that tensor at that place, of the same `tensors`; null where there is none. One
  /// that holds nothing may share its place with one that does, which then is meant.
  DcpChunk* find(std::vector<DcpTensor>& tensors, std::size_t tensor, const Extents& place) const;

 private:
  struct Table;
  std::shared_ptr<const Table> table_;  ///< of tensors that have many
};

}  // namespace ttcheck::formats
