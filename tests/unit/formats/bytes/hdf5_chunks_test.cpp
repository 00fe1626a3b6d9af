// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/chunked_source.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>

#include "tests/support/memory_source.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Counts how often it is read.
class Counted final : public Source {
 public:
  explicit Counted(std::vector<std::byte> bytes) : memory_(std::move(bytes)) {}
  std::uint64_t size() const override { return memory_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    memory_.read(offset, out);
  }
  Where where(std::uint64_t offset) const override { return memory_.where(offset); }
  mutable int reads = 0;

 private:
  tests::MemorySource memory_;
};

/// `count` bytes of 7, deflated.
std::vector<std::byte> deflated(std::int64_t count) {
  const std::vector<Bytef> plain(static_cast<std::size_t>(count), 7);
  std::vector<std::byte> out(compressBound(plain.size()));
  uLongf size = out.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size, plain.data(), plain.size()) ==
          Z_OK);
  out.resize(size);
  return out;
}

/// An array of bytes whose chunks, of one shape, are all stored in the file's bytes.
Hdf5ChunkGrid grid_of(Shape shape, Shape chunk, std::uint64_t stored) {
  Hdf5ChunkGrid grid;
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) cells *= (shape[d] + chunk[d] - 1) / chunk[d];
  grid.shape = std::move(shape);
  grid.chunk = std::move(chunk);
  grid.fill = {std::byte{0}};
  grid.filters = {{kDeflateFilter, {1}}};
  grid.chunks.assign(static_cast<std::size_t>(cells), {0, stored, 0});
  return grid;
}

TEST_CASE("a band of chunks is decoded once, however many rows and datasets take turns") {
  const Counted file(deflated(2 * kMiB));
  const auto a = chunked_source(file, "a", grid_of({4, 12 * kMiB}, {2, kMiB}, file.size()));
  const auto b = chunked_source(file, "b", grid_of({4, 12 * kMiB}, {2, kMiB}, file.size()));
  std::vector<std::byte> row(12 * kMiB);
  for (std::uint64_t r = 0; r < 4; ++r) {
    for (const auto& source : {&a, &b}) {
      std::ranges::fill(row, std::byte{0});
      (*source)->read(r * row.size(), row);
      CHECK(std::ranges::count(row, std::byte{7}) == std::ssize(row));
    }
  }
  CHECK(file.reads == 2 * 24);
}

TEST_CASE("a band that is too large to keep is refused, chunks that come one by one are not") {
  const Counted file(deflated(2 * kMiB));
  const auto wide = chunked_source(file, "w", grid_of({2, 600 * kMiB}, {2, kMiB}, file.size()));
  std::vector<std::byte> some(16);
  CHECK_THROWS_AS(wide->read(0, some), Error);
  const auto flat = chunked_source(file, "f", grid_of({2, 600 * kMiB}, {1, 2 * kMiB}, file.size()));
  flat->read(0, some);
  CHECK(some.front() == std::byte{7});
}

}  // namespace
}  // namespace ttcheck::formats
