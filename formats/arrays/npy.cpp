// SPDX-License-Identifier: Apache-2.0
// npy: one array in a file, named by the file's stem.

#include "formats/arrays/npy_array.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Bid bid_npy(const Probe& probe) {
  if (probe.head.size() < kMagic.size()) return Bid::none;
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), kMagic.size());
  return head == kMagic ? Bid::npy : Bid::none;
}

Run open_npy(const Probe& probe, const OpenOptions&) {
  const Source& source = probe.root.file(probe.file);
  const std::string name = stem_of(probe.file);
  State state;
  read_npy(source, name, state);  // a malformed header is refused at the door
  Run run;
  run.format = "npy";
  run.unnamed = true;
  run.open = [state = std::move(state)](std::size_t) { return state; };
  return run;
}

}  // namespace

const Format kNpy = {"npy", "NumPy arrays, one a file", bid_npy, open_npy};

}  // namespace ttcheck::formats
