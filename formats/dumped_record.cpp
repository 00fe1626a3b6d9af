#include "formats/dumped_record.hpp"

#include <memory>
#include <utility>

#include "core/base/error.hpp"

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

}  // namespace ttcheck::formats
