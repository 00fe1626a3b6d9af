// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/core/zarr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/readers/beside.hpp"

namespace ttcheck::formats {
namespace {

bool is_object(const Entry& entry, std::string_view directory) {
  const std::string_view name = std::string_view(entry.path).substr(directory.size() + 1);
  return entry.kind == EntryKind::file && name.starts_with("shard_") && name.ends_with(".pt");
}

bool has_table(const Root& root, std::string_view directory) {
  return root.entry(fmt::format("{}/{}", directory, kZarrArray)).has_value();
}

MegatronZarrTensor tensor_of(const std::string& key, ZarrArray array) {
  MegatronZarrTensor out{std::move(array), {}};
  out.tensor.name = key;
  out.tensor.dtype = out.array.dtype;
  out.tensor.size = out.array.shape;
  for (const ZarrChunk& chunk : out.array.chunks) {
    out.tensor.chunks.push_back({chunk.lo, chunk.shape, std::nullopt});
  }
  return out;
}

/// True where a file is named as chunks are: numbers between dots.
bool has_chunks(const std::vector<Entry>& entries) {
  return std::ranges::any_of(entries, [](const Entry& entry) {
    const std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    return entry.kind == EntryKind::file &&
           name.find_first_not_of("0123456789.") == std::string_view::npos;
  });
}

}  // namespace

bool is_megatron_zarr_key(const Root& root, std::string_view directory) {
  if (has_table(root, directory)) return true;
  const std::vector<Entry> entries = root.list(directory);
  return std::ranges::any_of(entries, [&](const Entry& one) { return is_object(one, directory); });
}

MegatronZarr read_megatron_zarr(const Root& root, State& state) {
  MegatronZarr out;
  std::vector<std::string> rest;
  for (const Entry& entry : root.list()) {
    if (entry.kind != EntryKind::directory) continue;
    if (!has_table(root, entry.path)) {
      if (has_chunks(root.list(entry.path))) {
        state.findings.push_back(
            found(Code::omission, "chunks without their table .zarray: what they hold is not known",
                  {root.given() + "/" + entry.path, {}, {}}, entry.path));
        ++state.unreadable;
      }
      if (!is_megatron_zarr_key(root, entry.path)) continue;
      for (const Entry& below : root.list(entry.path)) {
        if (is_object(below, entry.path)) {
          out.objects.push_back(below.path);
        } else {
          rest.push_back(below.path);
          state.bytes_unclaimed = checked_add(state.bytes_unclaimed, below.size);
        }
      }
      continue;
    }
    try {
      MegatronZarrTensor& one =
          out.tensors.emplace_back(tensor_of(entry.path, read_zarr_array(root, entry.path)));
      std::ranges::move(one.array.findings, std::back_inserter(state.findings));
      std::ranges::move(one.array.rest, std::back_inserter(rest));
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, one.array.rest_bytes);
      if (one.array.chunks.empty() && checked_product(one.array.shape) > 0) ++state.unreadable;
    } catch (const Error& error) {
      state.findings.push_back(
          unreadable(error.at({root.given() + "/" + entry.path, {}, {}}), entry.path));
      ++state.unreadable;
    }
  }
  if (!rest.empty()) {
    state.findings.push_back(remark({root.given(), {}, {}},
                                    fmt::format("beside the chunks, not read: {}", named(rest))));
  }
  return out;
}

void place_in_zarr(const MegatronZarrTensor& tensor, std::size_t chunk, std::size_t stacked,
                   std::int64_t i, Record& record) {
  const ZarrChunk& from = tensor.array.chunks[chunk];
  const Extents strides = row_major_strides(tensor.array.chunk);
  const auto tail = static_cast<std::ptrdiff_t>(stacked);
  const Extents index = unravel(Shape(from.shape.begin(), from.shape.begin() + tail), i);
  std::int64_t start = 0;
  for (std::size_t d = 0; d < stacked; ++d) {
    start = checked_add(start, checked_mul(index[d], strides[d]));
  }
  record.piece = from.piece;
  record.piece.offset = byte_size(tensor.array.dtype, start);
  const Shape padded(tensor.array.chunk.begin() + tail, tensor.array.chunk.end());
  if (record.shape == padded) return;
  record.piece.cells = {{whole(record.shape), 0, Extents(strides.begin() + tail, strides.end())}};
}

}  // namespace ttcheck::formats
