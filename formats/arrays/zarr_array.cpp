// SPDX-License-Identifier: Apache-2.0
// The place of a chunk in the array stands in the name of its file only. So the directory is
// listed, not the grid walked: time and memory go by the files that are there, whatever number of
// chunks the shape claims. A name counts when it has one index for each dimension, of digits
// without leading zeros, and all lie in the grid; other files are `rest`, but for the tables of
// zarr itself. With `/` as separator the indices are directories, listed one level for each
// dimension.
//
// The table (at most 1 MiB) is read first; a compressor, a filter, Fortran order of several
// dimensions or a type that is no plain number is an Error. A chunk file that is too short is a
// finding and no chunk; bytes behind a chunk are a finding, and it is read. Chunks that are
// missing are counted in one finding, and nothing stands in for them. No chunk is read here.

#include "formats/arrays/zarr_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/checked.hpp"
#include "core/base/digits.hpp"
#include "formats/arrays/npy_array.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMaxTable = std::uint64_t{1} << 20;
constexpr std::size_t kMaxDims = 64;
constexpr std::string_view kMetadata[] = {".zarray", ".zattrs", ".zmetadata"};

Json member(const Json& table, std::string_view key) {
  const auto value = table.find(key);
  if (!value) table.fail(fmt::format("'{}' is missing", key));
  return *value;
}

Shape extents(const Json& value, std::int64_t least) {
  Shape out;
  for (const Json item : value.items()) {
    const std::int64_t number = item.integer();
    if (number < least) item.fail(fmt::format("{} is no extent", number));
    if (out.size() == kMaxDims) item.fail(fmt::format("more than {} dimensions", kMaxDims));
    out.push_back(number);
  }
  return out;
}

bool stated(const Json& table, std::string_view key) {
  const auto value = table.find(key);
  return value && !value->is(Json::Kind::null);
}

/// Indices of a chunk as its file's name has them.
std::optional<Extents> indices_of(std::string_view name, char separator, std::size_t dims) {
  Extents out;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find(separator, at), name.size());
    const std::string_view part = name.substr(at, end - at);
    const bool leading = part.size() > 1 && part.front() == '0';
    if (!is_number(part) || leading) return std::nullopt;
    std::int64_t number = 0;
    const auto [stop, fault] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (fault != std::errc{}) return std::nullopt;
    out.push_back(number);
    at = end + 1;
  }
  if (dims == 0 && out == Extents{0}) return Extents();
  return out.size() == dims ? std::optional(std::move(out)) : std::nullopt;
}

class Reader {
 public:
  Reader(const Root& root, const std::string& directory) : root_(root), directory_(directory) {}

  ZarrArray read() {
    read_table();
    grid_.reserve(out_.shape.size());
    for (std::size_t d = 0; d < out_.shape.size(); ++d) {
      grid_.push_back(ceil_div(out_.shape[d], out_.chunk[d]));
    }
    const bool nested = separator_ == '/' && out_.shape.size() > 1;
    const int depth = nested ? static_cast<int>(out_.shape.size()) : 1;
    for (const Entry& entry : root_.list(directory_, depth)) {
      if (entry.kind == EntryKind::file || !nested) add(entry);
    }
    report_missing();
    return std::move(out_);
  }

 private:
  void read_table() {
    const std::string path = directory_ + "/" + std::string(kZarrArray);
    const std::string file = root_.file(path).where(0).file;
    const JsonDocument document(root_.text(path, kMaxTable), file);
    const Json table = document.root();
    out_.where = table.where();
    if (const auto version = member(table, "zarr_format").integer(); version != 2) {
      table.fail(fmt::format("zarr_format {}, expected 2", version));
    }
    out_.shape = extents(member(table, "shape"), 0);
    const Json chunks = member(table, "chunks");
    out_.chunk = extents(chunks, 1);
    if (out_.chunk.size() != out_.shape.size()) {
      chunks.fail(
          fmt::format("{} dimensions, the array has {}", out_.chunk.size(), out_.shape.size()));
    }
    const Json code = member(table, "dtype");
    const auto dtype = code.is(Json::Kind::string) ? npy_dtype(code.string()) : std::nullopt;
    if (!dtype) code.fail("the type of this array is no plain number, and is not read");
    out_.dtype = *dtype;
    order_ = code.string().starts_with('>') ? ByteOrder::big : ByteOrder::little;
    if (const Json order = member(table, "order"); order.string() != "C" && out_.shape.size() > 1) {
      order.fail(fmt::format("order '{}' is not read, C is", order.string()));
    }
    for (const std::string_view key : {"compressor", "filters"}) {
      if (stated(table, key)) table.fail(fmt::format("chunks with a {} are not read", key));
    }
    filled_ = stated(table, "fill_value");
    if (const auto separator = table.find("dimension_separator")) {
      if (separator->string() != "." && separator->string() != "/") {
        separator->fail("expected '.' or '/'");
      }
      separator_ = separator->string().front();
    }
    bytes_of(member(table, "shape"), out_.shape);
    bytes_ = bytes_of(chunks, out_.chunk);
  }

  std::uint64_t bytes_of(const Json& stated, const Shape& shape) const {
    try {
      return byte_size(out_.dtype, checked_product(shape));
    } catch (const Error& error) {
      stated.fail(fmt::format("[{}] is too large: {}", fmt::join(shape, ", "), error.message()));
    }
  }

  void add(const Entry& entry) {
    const std::string_view name = std::string_view(entry.path).substr(directory_.size() + 1);
    if (std::ranges::find(kMetadata, name) != std::end(kMetadata)) return;
    const auto index = indices_of(name, separator_, out_.shape.size());
    bool inside = index && entry.kind == EntryKind::file;
    for (std::size_t d = 0; inside && d < index->size(); ++d) inside = (*index)[d] < grid_[d];
    if (!inside) {
      out_.rest.push_back(entry.path);
      out_.rest_bytes = checked_add(out_.rest_bytes, entry.size);
      return;
    }
    ++present_;
    try {
      add(*index, entry.path);
    } catch (const Error& error) {
      out_.findings.push_back(
          unreadable(error.at({root_.given() + "/" + entry.path, {}, {}}), directory_));
    }
  }

  void add(const Extents& index, const std::string& path) {
    ZarrChunk chunk;
    for (std::size_t d = 0; d < index.size(); ++d) {
      chunk.lo.push_back(checked_mul(index[d], out_.chunk[d]));
      chunk.shape.push_back(std::min(out_.chunk[d], out_.shape[d] - chunk.lo[d]));
    }
    const Source& source = root_.file(path);
    if (source.size() < bytes_) {
      throw Error(fmt::format("the chunk has {} bytes, expected {}", source.size(), bytes_),
                  source.where(source.size()));
    }
    if (source.size() > bytes_) {
      const std::uint64_t more = source.size() - bytes_;
      out_.findings.push_back(
          odd(source.where(bytes_), fmt::format("{} bytes behind the chunk", more), Code::torn));
      out_.rest_bytes = checked_add(out_.rest_bytes, more);
    }
    chunk.piece.source = &source;
    chunk.piece.dtype = out_.dtype;
    chunk.piece.order = order_;
    out_.chunks.push_back(std::move(chunk));
  }

  void report_missing() {
    const std::int64_t missing = checked_product(grid_) - present_;
    if (missing <= 0) return;
    Finding finding =
        found(Code::torn,
              fmt::format("{} of {} chunks ({}) of {} are not there: their elements {}", missing,
                          checked_product(grid_), fmt::join(out_.chunk, "x"), directory_,
                          filled_ ? "are the fill value, which is not read" : "were never written"),
              out_.where, directory_);
    finding.incomplete = true;
    out_.findings.push_back(std::move(finding));
  }

  const Root& root_;
  const std::string& directory_;
  ZarrArray out_;
  Shape grid_;
  ByteOrder order_ = ByteOrder::little;
  char separator_ = '.';
  bool filled_ = false;
  std::uint64_t bytes_ = 0;  ///< of a chunk
  std::int64_t present_ = 0;
};

}  // namespace

ZarrArray read_zarr_array(const Root& root, const std::string& directory) {
  return Reader(root, directory).read();
}

}  // namespace ttcheck::formats
