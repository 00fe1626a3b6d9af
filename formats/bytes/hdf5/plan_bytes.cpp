// SPDX-License-Identifier: Apache-2.0
// The worker that made the plan has run a C library on hostile bytes, so its answer may be
// hostile, too. The form is plain: a number takes 8 bytes, little-endian, and text and bytes
// follow their length. An item that is another one once more ends after its text, one with a
// problem after the problem.
//
// The reader gives each number a greatest value of its own. An enum must name a value, `same` an
// item before, a range must lie in the file. A count may be no more than the bytes left allow for
// such things at their smallest, so memory stays within a multiple of the answer. A grid must
// have a chunk for each of its cells, no chunk extent of 0, a fill value as large as an element
// and filters that can be undone. Whatever breaks a rule, and bytes that are left over, are an
// Error for the file as a whole.

#include "formats/bytes/hdf5/plan_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "formats/bytes/cursor.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxRank = 32;

class Writer {
 public:
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xffU));
  }
  void blob(std::span<const std::byte> bytes) {
    number(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void text(std::string_view text) { blob(std::as_bytes(std::span(text))); }
  void shape(const Shape& shape) {
    number(shape.size());
    for (const std::int64_t extent : shape) number(static_cast<std::uint64_t>(extent));
  }
  void grid(const Hdf5ChunkGrid& grid) {
    shape(grid.chunk);
    blob(grid.fill);
    number(grid.filters.size());
    for (const Hdf5Filter& filter : grid.filters) {
      number(static_cast<std::uint64_t>(filter.id));
      number(filter.parameters.size());
      for (const std::uint32_t parameter : filter.parameters) number(parameter);
    }
    number(grid.chunks.size());
    for (const Hdf5Chunk& chunk : grid.chunks) {
      number(chunk.offset);
      number(chunk.size);
      number(chunk.skipped);
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const Source& file)
      : cursor_(bytes, file.where(0).file), file_size_(file.size()) {}

  bool done() const { return cursor_.done(); }

  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t value = cursor_.u64("number");
    if (value > most) fail();
    return value;
  }

  /// A count of things of at least `size` bytes each.
  std::size_t count(std::size_t size) {
    return static_cast<std::size_t>(number(cursor_.remaining() / size));
  }

  std::vector<std::byte> blob() {
    const auto bytes = cursor_.take(cursor_.u64("length"), "bytes");
    return {bytes.begin(), bytes.end()};
  }
  std::string text() { return std::string(cursor_.text(cursor_.u64("length"), "text")); }

  Shape shape() {
    Shape shape(count(8));
    if (shape.size() > kMaxRank) fail();
    for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(number(INT64_MAX));
    static_cast<void>(element_count(shape));
    return shape;
  }

  Hdf5ChunkGrid grid(const Hdf5Item& item) {
    Hdf5ChunkGrid grid;
    grid.shape = item.shape;
    grid.element_size = static_cast<std::uint64_t>(bits(item.dtype)) / 8;
    grid.chunk = shape();
    grid.fill = blob();
    if (grid.chunk.size() != grid.shape.size() || grid.fill.size() != grid.element_size) fail();
    std::int64_t cells = 1;
    for (std::size_t d = 0; d < grid.chunk.size(); ++d) {
      if (grid.chunk[d] < 1) fail();
      cells = checked_mul(cells, ceil_div(grid.shape[d], grid.chunk[d]));
    }
    grid.filters.resize(count(16));
    for (Hdf5Filter& filter : grid.filters) {
      filter.id = static_cast<int>(number(INT32_MAX));
      filter.parameters.resize(count(8));
      for (std::uint32_t& parameter : filter.parameters)
        parameter = static_cast<std::uint32_t>(number(UINT32_MAX));
    }
    if (!refused(grid.filters).empty() || !unsupported(grid.filters).empty()) fail();
    grid.chunks.resize(count(24));
    for (Hdf5Chunk& chunk : grid.chunks) {
      chunk.offset = number(file_size_);
      chunk.size = number(file_size_ - chunk.offset);
      chunk.skipped = static_cast<std::uint32_t>(number(UINT32_MAX));
    }
    if (static_cast<std::uint64_t>(cells) > grid.chunks.size()) fail();
    return grid;
  }

  Hdf5Storage storage(const Hdf5Item& item) {
    const std::uint64_t size = byte_size(item.dtype, element_count(item.shape));
    switch (number(2)) {
      case 0: {
        const std::uint64_t offset = number(file_size_);
        if (size > file_size_ - offset) fail();
        return offset;
      }
      case 1: {
        std::vector<std::byte> bytes = blob();
        if (bytes.size() != size) fail();
        return bytes;
      }
      default:
        return grid(item);
    }
  }

  [[noreturn]] void fail() const { cursor_.fail("structure makes no sense", "HDF5"); }

 private:
  Cursor cursor_;
  std::uint64_t file_size_;
};

}  // namespace

std::vector<std::byte> to_bytes(const Hdf5Plan& plan) {
  Writer out;
  out.number(plan.items.size());
  for (const Hdf5Item& item : plan.items) {
    out.text(item.path);
    out.number(item.same ? *item.same + 1 : 0);
    out.number(item.text.has_value());
    if (item.text) out.text(*item.text);
    if (item.same) continue;
    out.text(item.problem);
    out.number(item.unsupported);
    if (!item.problem.empty()) continue;
    out.number(static_cast<std::uint64_t>(item.dtype));
    out.number(static_cast<std::uint64_t>(item.order));
    out.shape(item.shape);
    out.number(item.storage.index());
    if (const auto* offset = std::get_if<std::uint64_t>(&item.storage)) out.number(*offset);
    if (const auto* bytes = std::get_if<std::vector<std::byte>>(&item.storage)) out.blob(*bytes);
    if (const auto* grid = std::get_if<Hdf5ChunkGrid>(&item.storage)) out.grid(*grid);
  }
  out.number(plan.definition.has_value());
  if (plan.definition) out.text(*plan.definition);
  out.number(plan.notes.size());
  for (const Hdf5Note& note : plan.notes) {
    out.number(static_cast<std::uint64_t>(note.severity));
    out.text(note.path);
    out.text(note.message);
  }
  return out.take();
}

Hdf5Plan plan_of(std::span<const std::byte> bytes, const Source& file) {
  Reader in(bytes, file);
  Hdf5Plan plan;
  plan.items.resize(in.count(24));
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    Hdf5Item& item = plan.items[i];
    item.path = in.text();
    const std::uint64_t same = in.number(i);
    if (in.number(1) == 1) item.text = in.text();
    if (same > 0) {
      item.same = static_cast<std::size_t>(same) - 1;
      continue;
    }
    item.problem = in.text();
    item.unsupported = in.number(1) == 1;
    if (!item.problem.empty()) continue;
    item.dtype = kDTypes[in.number(static_cast<std::uint64_t>(DType::c128))].dtype;
    item.order = in.number(1) == 1 ? ByteOrder::big : ByteOrder::little;
    item.shape = in.shape();
    item.storage = in.storage(item);
  }
  if (in.number(1) == 1) plan.definition = in.text();
  plan.notes.resize(in.count(24));
  for (Hdf5Note& note : plan.notes) {
    note.severity = static_cast<Severity>(in.number(static_cast<std::uint64_t>(Severity::error)));
    note.path = in.text();
    note.message = in.text();
  }
  if (!in.done()) in.fail();
  return plan;
}

}  // namespace ttcheck::formats
