// SPDX-License-Identifier: Apache-2.0
// A row of the array runs through all chunks of a band, so a row-major reader comes back to each
// chunk once a row, and must not decode it each time. Two things prevent that: a cache that all
// sources share and that drops what was used longest ago, and the band that a single `read` holds
// by itself, so that no other thread can take its chunks away. Decoding is done outside of the
// lock; of two threads that decode the same chunk the first to finish fills the cache.
//
// A read is cut into runs: what of the last dimension lies in one chunk. `locate` turns an offset
// in the array into a chunk and an offset in it. A chunk that no filter was applied to is read
// from the file run by run; one never written gives the fill value. A chunk that lies outside of
// the file, fails in a filter or comes out at another size throws Error with its own place; the
// others remain readable.

#include "formats/bytes/hdf5/chunked_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

using Bytes = std::vector<std::byte>;
using Shared = std::shared_ptr<const Bytes>;

constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
constexpr std::uint64_t kMost = 2 * kMaxChunkBand;

/// The chunks that were decoded last, of all datasets. A row-major reader comes back to each chunk
/// of a band once a row, and a comparison reads two datasets in turn on several threads, so what
/// is kept is a few bands of the dataset that is being read, within bounds.
class Decoded {
 public:
  using Key = std::pair<std::uint64_t, std::size_t>;  // source, chunk

  Shared find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return order_.front().second;
  }

  void keep(const Key& key, const Shared& bytes, std::uint64_t band) {
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key)) return;  // another thread was faster
    held_ += bytes->size();
    order_.emplace_front(key, bytes);
    by_key_[key] = order_.begin();
    const std::uint64_t capacity = std::clamp(4 * band, kLeast, kMost);
    while (held_ > capacity && order_.size() > 1) {
      held_ -= order_.back().second->size();
      by_key_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  void forget(std::uint64_t source) {
    const std::lock_guard lock(mutex_);
    auto at = by_key_.lower_bound({source, 0});
    while (at != by_key_.end() && at->first.first == source) {
      held_ -= at->second->second->size();
      order_.erase(at->second);
      at = by_key_.erase(at);
    }
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, Shared>> order_;  // latest first
  std::map<Key, std::list<std::pair<Key, Shared>>::iterator> by_key_;
  std::uint64_t held_ = 0;
};

Decoded& decoded_chunks() {
  static Decoded decoded;
  return decoded;
}

std::uint64_t next_source() {
  static std::atomic<std::uint64_t> count{0};
  return ++count;
}

class ChunkedSource final : public Source {
 public:
  ChunkedSource(const Source& file, std::string name, Hdf5ChunkGrid grid)
      : file_(file), name_(std::move(name)), grid_(std::move(grid)) {
    for (std::size_t d = 0; d < grid_.shape.size(); ++d) {
      cells_.push_back(ceil_div(grid_.shape[d], grid_.chunk[d]));
    }
    const auto element = checked_cast<std::int64_t>(grid_.element_size);
    size_ = checked_cast<std::uint64_t>(checked_mul(element_count(grid_.shape), element));
    chunk_size_ = checked_cast<std::size_t>(checked_mul(element_count(grid_.chunk), element));
    std::size_t first = 0;  // dimension that a chunk spans; before it, chunks come one by one
    while (first < cells_.size() && grid_.chunk[first] == 1) ++first;
    for (std::size_t d = first + 1; d < cells_.size(); ++d) {
      chunks_in_band_ = checked_mul(chunks_in_band_, static_cast<std::uint64_t>(cells_[d]));
    }
    band_ = checked_mul(chunks_in_band_, chunk_size_);
  }
  ~ChunkedSource() override { decoded_chunks().forget(id_); }
  ChunkedSource(const ChunkedSource&) = delete;
  ChunkedSource& operator=(const ChunkedSource&) = delete;

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!within(offset, out.size(), size_)) {
      throw Error(fmt::format("bytes [{}, {}) are outside of the {} of the dataset", offset,
                              offset + out.size(), size_),
                  where(0));
    }
    Band band;
    while (!out.empty()) {
      const std::size_t done = read_run(offset, out, band);
      offset += done;
      out = out.subspan(done);
    }
  }

  Where where(std::uint64_t offset) const override {
    Where place = file_.where(0);
    place.object = name_;
    place.offset.reset();
    if (offset < size_) {
      const Hdf5Chunk& chunk = grid_.chunks[locate(offset).chunk];
      if (chunk.size > 0) place.offset = file_.where(chunk.offset).offset;
    }
    return place;
  }

 private:
  /// A byte of the array: its chunk, its offset in the decoded chunk, and how many bytes of the
  /// last dimension follow in the same chunk.
  struct Spot {
    std::size_t chunk = 0;
    std::uint64_t offset = 0;
    std::uint64_t run = 0;
  };

  Spot locate(std::uint64_t offset) const {
    const std::uint64_t element = offset / grid_.element_size, rest = offset % grid_.element_size;
    const Extents at = unravel(grid_.shape, static_cast<std::int64_t>(element));
    std::int64_t chunk = 0, inside = 0, run = 1;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t extent = grid_.chunk[d], within_chunk = at[d] % extent;
      chunk = chunk * cells_[d] + at[d] / extent;
      inside = inside * extent + within_chunk;
      run = std::min(extent - within_chunk, grid_.shape[d] - at[d]);  // the last dimension's stays
    }
    const auto bytes = [&](std::int64_t n) {
      return static_cast<std::uint64_t>(n) * grid_.element_size;
    };
    return {static_cast<std::size_t>(chunk), bytes(inside) + rest, bytes(run) - rest};
  }

  /// The decoded chunks of the band that a call is in.
  struct Band {
    std::uint64_t number = 0;
    std::unordered_map<std::size_t, Shared> chunks;
  };

  std::size_t read_run(std::uint64_t offset, std::span<std::byte> out, Band& band) const {
    const Spot spot = locate(offset);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(spot.run, out.size()));
    const Hdf5Chunk& chunk = grid_.chunks[spot.chunk];
    if (chunk.size == 0) {
      const std::size_t width = grid_.fill.size();
      for (std::size_t i = 0; i < count; ++i) out[i] = grid_.fill[(spot.offset + i) % width];
    } else if (plain(chunk)) {
      check_plain(chunk);
      file_.read(chunk.offset + spot.offset, out.first(count));
    } else {
      std::memcpy(out.data(), decoded(spot.chunk, band).data() + spot.offset, count);
    }
    return count;
  }

  bool plain(const Hdf5Chunk& chunk) const {
    for (std::size_t i = 0; i < grid_.filters.size(); ++i) {
      if ((chunk.skipped >> i & 1U) == 0) return false;
    }
    return true;
  }

  Where place_of(const Hdf5Chunk& chunk) const {
    Where place = file_.where(chunk.offset);
    place.object = name_;
    return place;
  }

  void check_plain(const Hdf5Chunk& chunk) const {
    if (chunk.size != chunk_size_) {
      throw Error(
          fmt::format("chunk holds {} bytes where its shape needs {}", chunk.size, chunk_size_),
          place_of(chunk));
    }
  }

  const Bytes& decoded(std::size_t index, Band& band) const {
    if (const std::uint64_t number = index / chunks_in_band_; number != band.number) {
      band.chunks.clear();
      band.number = number;
    }
    Shared& mine = band.chunks[index];
    if (!mine) mine = decoded_chunks().find({id_, index});
    if (!mine) {
      mine = std::make_shared<const Bytes>(decode(index));
      decoded_chunks().keep({id_, index}, mine, band_);
    }
    return *mine;
  }

  Bytes decode(std::size_t index) const {
    const Hdf5Chunk& chunk = grid_.chunks[index];
    try {
      if (band_ > kMaxChunkBand) {
        throw Error(
            fmt::format("its rows lie in chunks of {} bytes together, at most {} are decoded",
                        band_, kMaxChunkBand));
      }
      if (!within(chunk.offset, chunk.size, file_.size()))
        throw Error("chunk lies beyond the end of the file");
      Bytes stored(static_cast<std::size_t>(chunk.size));
      file_.read(chunk.offset, stored);
      return undo_filters(grid_.filters, chunk.skipped, std::move(stored), chunk_size_);
    } catch (const Error& error) {
      throw error.at(place_of(chunk));
    }
  }

  const Source& file_;
  std::string name_;
  Hdf5ChunkGrid grid_;
  Extents cells_;
  std::uint64_t size_ = 0;
  std::size_t chunk_size_ = 0;
  std::uint64_t chunks_in_band_ = 1;  // as kMaxChunkBand has it
  std::uint64_t band_ = 0;            // bytes of them, decoded
  std::uint64_t id_ = next_source();
};

}  // namespace

std::unique_ptr<Source> chunked_source(const Source& file, std::string name, Hdf5ChunkGrid grid) {
  return std::make_unique<ChunkedSource>(file, std::move(name), std::move(grid));
}

}  // namespace ttcheck::formats
