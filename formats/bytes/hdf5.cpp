// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/hdf5/plan_bytes.hpp"
#include "formats/bytes/hdf5/worker/library.hpp"
#include "formats/bytes/hdf5/worker/walk.hpp"
#include "formats/bytes/held_bytes.hpp"
#include "formats/sandbox/isolate.hpp"

namespace ttcheck::formats {
namespace {

Where place_of(const Source& file, std::string path) {
  Where place = file.where(0);
  place.offset.reset();
  place.object = std::move(path);
  return place;
}

Hdf5Dataset dataset_of(const Source& file, Hdf5Item item,
                       std::vector<std::unique_ptr<Source>>& sources) {
  Hdf5Dataset out;
  if (!item.problem.empty()) {
    out.problem = std::move(item.problem);
    out.unsupported = item.unsupported;
  } else if (const auto* offset = std::get_if<std::uint64_t>(&item.storage)) {
    out.source = &file;
    out.offset = *offset;
  } else if (auto* bytes = std::get_if<std::vector<std::byte>>(&item.storage)) {
    sources.push_back(std::make_unique<HeldBytes>(std::move(*bytes), place_of(file, item.path)));
  } else {
    sources.push_back(
        chunked_source(file, item.path, std::move(std::get<Hdf5ChunkGrid>(item.storage))));
  }
  if (out.problem.empty() && out.source == nullptr) out.source = sources.back().get();
  out.path = std::move(item.path);
  out.dtype = item.dtype;
  out.order = item.order;
  out.shape = std::move(item.shape);
  out.text = std::move(item.text);
  return out;
}

Finding finding_of(const Source& file, Hdf5Note note) {
  Finding finding;
  finding.code = Code::unreadable;
  finding.severity = note.severity;
  finding.incomplete = note.severity == Severity::error;
  finding.where = place_of(file, std::move(note.path));
  finding.message = std::move(note.message);
  return finding;
}

void load_library() {
  static_cast<void>(hdf5_library());
  ::tzset();  // times of objects are dates: the worker cannot open the zone's file
}

std::vector<std::byte> walk(const Source& file, std::string_view attribute) {
  return to_bytes(walk_hdf5(file, attribute));
}

const WorkerParser kWalker(load_library, walk);

}  // namespace

Hdf5Contents read_hdf5(const Source& file, std::string_view attribute) {
  const std::vector<std::byte> answer = in_child(file, kWalker, attribute);
  Hdf5Plan plan = plan_of(answer, file);
  Hdf5Contents out;
  for (Hdf5Item& item : plan.items) {
    if (!item.same) {
      out.datasets.push_back(dataset_of(file, std::move(item), out.sources));
      continue;
    }
    Hdf5Dataset linked = out.datasets[*item.same];
    linked.path = std::move(item.path);
    linked.text = std::move(item.text);
    out.datasets.push_back(std::move(linked));
  }
  out.definition = std::move(plan.definition);
  for (Hdf5Note& note : plan.notes) out.findings.push_back(finding_of(file, std::move(note)));
  return out;
}

bool looks_like_hdf5(std::span<const std::byte> head) {
  constexpr std::array<unsigned char, 8> kSignature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  for (std::size_t at = 0; at + kSignature.size() <= head.size(); at = at == 0 ? 512 : 2 * at) {
    if (std::memcmp(head.data() + at, kSignature.data(), kSignature.size()) == 0) return true;
  }
  return false;
}

}  // namespace ttcheck::formats
