// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/dumped_record.hpp"

#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {

Record dumped_record(const TorchFile& file, Value value, std::string name, const DumpedPlace& place,
                     const Mesh& mesh) {
  const TorchTensor tensor = file.tensor(value);
  if (!tensor.opaque.empty())
    throw Error("is " + tensor.opaque + ", no plain array", value.where());
  Record record = record_of(std::move(name), tensor, place.rank);
  record.identity.phase = Phase::forward;
  record.kind = Kind::output;
  const auto rank = static_cast<std::size_t>(place.rank);
  if (rank < mesh.ranks.size()) record.at = mesh.ranks[rank];
  auto trace = std::make_shared<TraceRecord>();
  trace->seq = place.seq;
  record.trace = std::move(trace);
  return record;
}

void add_each(const std::vector<Leaf>& tensors, const std::function<Record(const Leaf&)>& make,
              State& state) {
  for (const Leaf& leaf : tensors) {
    try {
      state.records.push_back(make(leaf));
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error, leaf.path));
      ++state.unreadable;
    }
  }
}

}  // namespace ttcheck::formats
