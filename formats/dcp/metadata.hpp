// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading the table of a PyTorch distributed checkpoint: one pickle (`.metadata`, or a rank's own
// `__R.metadata`). Classes are told by their name alone: since torch 1.13 they have lived in
// several modules (torch/distributed/checkpoint/metadata.py, filesystem.py; before 2.0
// torch/distributed/_shard/checkpoint).

#include "core/model/source.hpp"
#include "formats/dcp/table.hpp"

namespace ttcheck::formats {

/// Throws Error when the source holds no such table; what is wrong with single entries becomes a
/// finding. Time and memory grow with the bytes of the pickle, also of a hostile one.
DcpMetadata read_dcp_metadata(const Source& source);

}  // namespace ttcheck::formats
