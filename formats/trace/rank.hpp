// SPDX-License-Identifier: Apache-2.0
#pragma once
// One rank's file of one step of a native trace, HDF5 or safetensors: its arrays with their
// records.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/record.hpp"

namespace ttcheck::formats {

struct TraceRankFile {
  std::vector<Record> records;  ///< by `seq`, identities unique
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;  ///< arrays or records left out
  std::uint64_t unclaimed = 0;  ///< bytes that belong to nothing
  std::shared_ptr<void> owner;  ///< of decoders that records point to
};

/// Reads the metadata of a rank's file, told by its content. Bad records are named in findings, the
/// rest is kept. Repeats of an identity without `call` are numbered by `seq`, with a warning.
/// REQUIRES that the file outlives the records. Throws Error when the file as a whole cannot be
/// read.
TraceRankFile read_trace_rank(const Source& file, std::int32_t rank, const Coordinates& at);

}  // namespace ttcheck::formats
