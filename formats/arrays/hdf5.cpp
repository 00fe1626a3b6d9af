// SPDX-License-Identifier: Apache-2.0
// HDF5: the datasets of one file, named by their paths with dots. Of the attributes only Keras'
// definition of the model is looked at.

#include "formats/bytes/hdf5.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "core/base/checked.hpp"
#include "formats/arrays/keras_config.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

/// The signature, where the format allows it. Behind a user block longer than the head it
/// is looked for where the name gives reason to.
Bid bid_hdf5(const Probe& probe) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;
  constexpr std::size_t kSignature = 8;
  if (probe.file.empty()) return Bid::none;
  if (looks_like_hdf5(probe.head)) return Bid::hdf5;
  if (!probe.file.ends_with(".h5") && !probe.file.ends_with(".hdf5")) return Bid::none;
  const Source& file = probe.root.file(probe.file);
  std::uint64_t at = std::bit_ceil(probe.head.size());
  for (; at <= kLongest && within(at, kSignature, file.size()); at *= 2) {
    std::array<std::byte, kSignature> bytes{};
    file.read(at, bytes);
    if (looks_like_hdf5(bytes)) return Bid::hdf5;
  }
  return Bid::none;
}

Record record_of(const Hdf5Dataset& dataset) {
  Record record;
  record.identity.name = dataset.path;
  std::ranges::replace(record.identity.name, '/', '.');
  record.kind = kind_of_name(record.identity.name);
  record.dtype = dataset.dtype;
  record.shape = dataset.shape;
  record.piece.source = dataset.source;
  record.piece.offset = dataset.offset;
  record.piece.dtype = dataset.dtype;
  record.piece.order = dataset.order;
  return record;
}

State read(const Source& file, const Hdf5Contents& contents) {
  State state;
  for (Finding finding : contents.findings) {
    if (finding.severity >= Severity::warning) {  // a link that is not followed: a dataset unread
      finding.incomplete = true;
      ++state.unreadable;
    }
    state.findings.push_back(std::move(finding));
  }
  if (contents.definition) {
    for (Finding& finding :
         keras_findings(*contents.definition, {file.where(0).file, {}, "model_config"})) {
      state.findings.push_back(std::move(finding));
    }
  }
  std::set<std::string> seen;
  for (const Hdf5Dataset& dataset : contents.datasets) {
    std::string problem = dataset.problem;
    Record record = record_of(dataset);
    if (problem.empty() && !seen.insert(record.identity.name).second) {
      problem = "a second dataset of this name: only the first is used";
    }
    if (problem.empty()) {
      state.records.push_back(std::move(record));
      continue;
    }
    ++state.unreadable;
    const Where where{file.where(0).file, std::nullopt, dataset.path};
    state.findings.push_back(
        unreadable(dataset.unsupported ? Error::unable(problem, where) : Error(problem, where),
                   record.identity.name));
  }
  return state;
}

Run open_hdf5(const Probe& probe, const OpenOptions&) {
  const Source& file = probe.root.file(probe.file);
  auto contents = std::make_shared<Hdf5Contents>(read_hdf5(file, {}));
  Run run;
  run.format = "hdf5";
  run.open = [&file, raw = contents.get()](std::size_t) { return read(file, *raw); };
  run.owner = contents;
  return run;
}

}  // namespace

const Format kHdf5 = {"hdf5", "datasets of an HDF5 file", bid_hdf5, open_hdf5};

}  // namespace ttcheck::formats
