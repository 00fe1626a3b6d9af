// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor of a torch file as a record of a trace: dumps keep one value a file, or many.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/record.hpp"
#include "core/model/run.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

struct DumpedPlace {
  std::int32_t rank = 0;
  std::int64_t seq = 0;  ///< counts the rank's dumps
};

/// An output of the forward pass, on the rank's place in `mesh`. Throws Error when the value is no
/// plain array. REQUIRES TorchFile::is_tensor(value).
Record dumped_record(const TorchFile& file, Value value, std::string name, const DumpedPlace& place,
                     const Mesh& mesh);

/// Adds the record of each tensor; one that cannot be made is a finding and counts as unreadable.
void add_each(const std::vector<Leaf>& tensors, const std::function<Record(const Leaf&)>& make,
              State& state);

}  // namespace ttcheck::formats
