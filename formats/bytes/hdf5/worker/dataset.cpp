// SPDX-License-Identifier: Apache-2.0
// The hard part is where the chunks lie: the file indexes them in one of several ways, and the
// library knows them all. So it is asked for the raw bytes of each chunk of the grid, while the
// driver (formats/bytes/hdf5/worker/driver) reads none of them and keeps the range that was asked
// for. Contiguous data have an offset, compact data are read at once, and storage that was never
// allocated is a grid of one chunk that was never written. Elements that are no numbers are plain
// bytes where they lie in the file as they are, and are otherwise read by the library
// (formats/bytes/hdf5/worker/by_library) or refused.
//
// Shapes cost a writer nothing. So a grid may have 65536 chunks more than are stored, and a
// chunked dataset 1 GiB and 1032 times the stored bytes; every range must end before the file
// does and before the end that it states, and no two chunks may overlap. Virtual and external
// storage is named and never opened. What fails is the `problem` of this dataset alone.

#include "formats/bytes/hdf5/worker/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/base/checked.hpp"
#include "formats/bytes/hdf5/chunked_source.hpp"
#include "formats/bytes/hdf5/worker/by_library.hpp"
#include "formats/bytes/hdf5/worker/types.hpp"

namespace ttcheck::formats {
namespace {

// What a shape may claim beyond what is stored: deflate makes at most 1032 bytes of one, and
// chunks that were never written cost nothing, up to a bound.
constexpr std::uint64_t kMostOfOne = 1032;
constexpr std::uint64_t kMostOfNothing = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostEmptyChunks = std::uint64_t{1} << 16;
constexpr std::size_t kCompactLimit = std::size_t{1}
                                      << 16;  // an object header message holds no more

class Description {
 public:
  Description(const Hdf5Library& library, Hdf5Medium& medium, hid_t id, Hdf5Item& dataset)
      : h5_(library),
        medium_(medium),
        id_(id),
        dataset_(dataset),
        end_(std::min(medium.file->size(), medium.end)) {}

  void fill() {
    type_ = Hdf5Handle(h5_.H5Dget_type(id_), h5_.H5Tclose);
    space_ = Hdf5Handle(h5_.H5Dget_space(id_), h5_.H5Sclose);
    list_ = Hdf5Handle(h5_.H5Dget_create_plist(id_), h5_.H5Pclose);
    if (!type_ || !space_ || !list_) fail("cannot be described");
    const H5D_layout_t layout = h5_.H5Pget_layout(list_.id());
    if (layout == H5D_VIRTUAL)
      throw Error::unable(
          fmt::format("virtual dataset, not followed{}; {}", virtual_target(), kNeverFollowed));
    if (h5_.H5Pget_external_count(list_.id()) > 0) {
      throw Error::unable(
          fmt::format("data in an external file, not opened: {}", external_target()));
    }
    const auto element = element_of(h5_, type_.id());
    element_size_ = h5_.H5Tget_size(type_.id());
    read_shape();
    if (element) {
      dataset_.dtype = element->dtype;
      dataset_.order = element->order;
    } else if (layout != H5D_CHUNKED && holds_itself(h5_, type_.id()) &&
               h5_.H5Dget_storage_size(id_) > 0) {
      dataset_.shape.push_back(checked_cast<std::int64_t>(element_size_));  // as plain bytes
      element_size_ = 1;
      raw_ = true;
    } else {
      return opaque(layout);
    }
    size_ = byte_size(dataset_.dtype, element_count(dataset_.shape));
    switch (layout) {
      case H5D_CONTIGUOUS:
        return contiguous();
      case H5D_COMPACT:
        return compact();
      case H5D_CHUNKED:
        return chunked();
      default:
        throw Error("unknown storage layout");
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("{}: {}", what, hdf5_reason(h5_)));
  }

  std::string external_target() const {
    std::array<char, 1024> name{};
    off_t offset = 0;
    hsize_t size = 0;
    if (h5_.H5Pget_external(list_.id(), 0, name.size() - 1, name.data(), &offset, &size) < 0)
      return "?";
    return name.data();
  }

  std::string virtual_target() const {
    size_t count = 0;
    std::array<char, 1024> name{};
    if (h5_.H5Pget_virtual_count(list_.id(), &count) < 0 || count == 0 ||
        h5_.H5Pget_virtual_filename(list_.id(), 0, name.data(), name.size() - 1) < 0) {
      return "";
    }
    return fmt::format(": {}", name.data());
  }

  void read_shape() {
    const H5S_class_t kind = h5_.H5Sget_simple_extent_type(space_.id());
    if (kind == H5S_NULL) throw Error::unable("null dataspace: there is no value");
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int rank = h5_.H5Sget_simple_extent_ndims(space_.id());
    if (rank < 0 || h5_.H5Sget_simple_extent_dims(space_.id(), extents.data(), nullptr) < 0) {
      fail("shape cannot be read");
    }
    for (int d = 0; d < rank; ++d) {
      dataset_.shape.push_back(checked_cast<std::int64_t>(extents[static_cast<std::size_t>(d)]));
    }
  }

  void contiguous() {
    const haddr_t offset = h5_.H5Dget_offset(id_);
    if (offset != HADDR_UNDEF && offset > end_) {
      throw Error(fmt::format("data at {} lies beyond the end of the file at {}", offset, end_));
    }
    if (h5_.H5Dget_storage_size(id_) == 0) return never_written();
    if (offset == HADDR_UNDEF) return never_written();
    if (!within(offset, size_, end_)) {
      throw Error(fmt::format("data at {} of {} bytes lies beyond the end of the file at {}",
                              offset, size_, end_));
    }
    dataset_.storage = std::uint64_t{offset};
  }

  /// Storage that was never allocated: all of it is the fill value, a grid of one chunk.
  void never_written() {
    if (raw_) throw Error("its bytes have no place in the file");
    if (size_ > kMostOfNothing)
      throw Error(fmt::format("{} bytes are claimed, none is stored", size_));
    Hdf5ChunkGrid grid = grid_of(dataset_.shape);
    for (std::int64_t& extent : grid.chunk) extent = std::max<std::int64_t>(extent, 1);
    grid.chunks.resize(1);
    dataset_.storage = std::move(grid);
  }

  /// Elements that are no numbers, as bytes (u8): fixed ones with a last dimension of their size,
  /// others one behind the other.
  void opaque(H5D_layout_t layout) {
    const bool varying = is_varying(h5_, type_.id());
    if (!varying && !holds_itself(h5_, type_.id())) throw Error::unable(std::string(kNoTensorType));
    std::vector<Hdf5Filter> filters;
    if (layout == H5D_CHUNKED) read_filters(filters);
    const std::uint64_t count = byte_size(DType::u8, element_count(dataset_.shape));
    std::vector<std::byte> bytes = opaque_bytes(h5_, id_, type_.id(), space_.id(), count);
    if (varying) {
      dataset_.shape = {checked_cast<std::int64_t>(bytes.size())};
    } else {
      dataset_.shape.push_back(checked_cast<std::int64_t>(element_size_));
    }
    dataset_.storage = std::move(bytes);
  }

  void compact() {
    if (size_ > kCompactLimit) throw Error(fmt::format("compact data of {} bytes", size_));
    std::vector<std::byte> bytes(static_cast<std::size_t>(size_));
    if (size_ > 0 &&
        h5_.H5Dread(id_, type_.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      fail("compact data cannot be read");
    }
    dataset_.storage = std::move(bytes);
  }

  Hdf5ChunkGrid grid_of(Shape chunk) const {
    Hdf5ChunkGrid grid;
    grid.shape = dataset_.shape;
    grid.chunk = std::move(chunk);
    grid.element_size = element_size_;
    grid.fill.assign(element_size_, std::byte{0});
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    if (h5_.H5Pfill_value_defined(list_.id(), &defined) >= 0 &&
        defined == H5D_FILL_VALUE_USER_DEFINED &&
        h5_.H5Pget_fill_value(list_.id(), type_.id(), grid.fill.data()) < 0) {
      fail("fill value cannot be read");
    }
    return grid;
  }

  void read_filters(std::vector<Hdf5Filter>& filters) const {
    const int count = h5_.H5Pget_nfilters(list_.id());
    if (count < 0) fail("filters cannot be read");
    for (int i = 0; i < count; ++i) {
      std::array<unsigned, 32> parameters{};
      std::size_t used = parameters.size();
      unsigned flags = 0, config = 0;
      const H5Z_filter_t id = h5_.H5Pget_filter2(list_.id(), static_cast<unsigned>(i), &flags,
                                                 &used, parameters.data(), 0, nullptr, &config);
      if (id < 0) fail("filter cannot be read");
      const auto end =
          parameters.begin() + static_cast<std::ptrdiff_t>(std::min(used, parameters.size()));
      filters.push_back({id, {parameters.begin(), end}});
    }
    if (const std::string why = refused(filters); !why.empty()) throw Error(why);
    const std::string problem = unsupported(filters);
    if (!problem.empty()) throw Error::unable(problem);
  }

  /// The chunk's place, by asking the library for its raw bytes and noting what it would read.
  Hdf5Chunk find_chunk(const std::vector<hsize_t>& at) const {
    hsize_t size = 0;
    Hdf5Chunk chunk;
    std::byte unused{};
    medium_.asked.reset();
    medium_.locating = true;
    const bool found =
        h5_.H5Dget_chunk_storage_size(id_, at.data(), &size) >= 0 &&
        (size == 0 || h5_.H5Dread_chunk(id_, H5P_DEFAULT, at.data(), &chunk.skipped, &unused) >= 0);
    medium_.locating = false;
    if (!found) {
      const std::string reason = hdf5_reason(h5_);
      if (reason == "chunk storage is not allocated") return {};
      throw Error("chunk cannot be found: " + reason);
    }
    if (size == 0) return {};
    if (!medium_.asked) throw Error("chunk cannot be found");
    chunk.offset = medium_.asked->offset;
    chunk.size = medium_.asked->size;
    return chunk;
  }

  void chunked() {
    if (size_ == 0) return never_written();
    const std::size_t rank = dataset_.shape.size();
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    if (h5_.H5Pget_chunk(list_.id(), H5S_MAX_RANK, extents.data()) != static_cast<int>(rank)) {
      fail("chunk shape does not fit the dataset's");
    }
    Shape chunk;
    std::int64_t cells = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      chunk.push_back(checked_cast<std::int64_t>(extents[d]));
      if (chunk[d] < 1) throw Error("chunk without extent");
      cells = checked_mul(cells, ceil_div(dataset_.shape[d], chunk[d]));
    }
    hsize_t stored = 0;
    if (h5_.H5Dget_num_chunks(id_, space_.id(), &stored) < 0) fail("chunks cannot be counted");
    if (stored == 0) return never_written();
    const std::uint64_t bytes =
        std::min<std::uint64_t>(h5_.H5Dget_storage_size(id_), medium_.file->size());
    if (static_cast<std::uint64_t>(cells) > kMostEmptyChunks &&
        static_cast<std::uint64_t>(cells) - kMostEmptyChunks > stored) {
      throw Error(fmt::format("{} chunks are claimed, {} are stored", cells, stored));
    }
    if (size_ > kMostOfNothing && (size_ - kMostOfNothing) / kMostOfOne > bytes) {
      throw Error(fmt::format("{} bytes are claimed, {} are stored", size_, bytes));
    }
    Hdf5ChunkGrid grid = grid_of(std::move(chunk));
    read_filters(grid.filters);
    find_chunks(grid, static_cast<std::size_t>(cells));
    dataset_.storage = std::move(grid);
  }

  void find_chunks(Hdf5ChunkGrid& grid, std::size_t cells) const {
    unsigned options = 0;
    const bool edges_plain = h5_.H5Pget_chunk_opts(list_.id(), &options) >= 0 &&
                             (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    std::vector<hsize_t> at(grid.shape.size(), 0);
    for (std::size_t i = 0; i < cells; ++i) {
      Hdf5Chunk chunk = find_chunk(at);
      bool edge = false;
      for (std::size_t d = 0; d < at.size(); ++d) {
        edge = edge || grid.shape[d] - static_cast<std::int64_t>(at[d]) < grid.chunk[d];
      }
      if (edge && edges_plain) chunk.skipped = std::numeric_limits<std::uint32_t>::max();
      if (chunk.size > 0 && !within(chunk.offset, chunk.size, end_)) {
        throw Error(fmt::format("chunk at {} of {} bytes lies beyond the end of the file at {}",
                                chunk.offset, chunk.size, end_));
      }
      grid.chunks.push_back(chunk);
      for (std::size_t d = at.size(); d-- > 0;) {
        at[d] += static_cast<hsize_t>(grid.chunk[d]);
        if (static_cast<std::int64_t>(at[d]) < grid.shape[d]) break;
        at[d] = 0;
      }
    }
    check_overlap(grid.chunks);
  }

  static void check_overlap(std::vector<Hdf5Chunk> chunks) {
    std::ranges::sort(chunks, {}, &Hdf5Chunk::offset);
    std::uint64_t end = 0;  // of what was stored so far; no sum overflows inside of the file
    for (const Hdf5Chunk& chunk : chunks) {
      if (chunk.size > 0 && chunk.offset < end) {
        throw Error(fmt::format("chunk at {} overlaps the one before it", chunk.offset));
      }
      end = std::max(end, chunk.offset + chunk.size);
    }
  }

  const Hdf5Library& h5_;
  Hdf5Medium& medium_;
  hid_t id_;
  Hdf5Item& dataset_;
  Hdf5Handle type_, space_, list_;
  std::uint64_t end_;  ///< of the file, or where it says that it ends
  std::size_t element_size_ = 0;
  bool raw_ = false;  ///< elements are bytes of something that is no number
  std::uint64_t size_ = 0;
};

}  // namespace

void describe_dataset(const Hdf5Library& library, Hdf5Medium& medium, hid_t id, Hdf5Item& item) {
  try {
    Description(library, medium, id, item).fill();
  } catch (const Error& error) {
    item.problem = error.message();
    item.unsupported = error.is_unable();
  }
}

}  // namespace ttcheck::formats
