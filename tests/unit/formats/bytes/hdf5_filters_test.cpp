// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/filters.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <string>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 % 256);
  return bytes;
}

Bytes deflated(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes out(size);
  REQUIRE(compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                    reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9) == Z_OK);
  out.resize(size);
  return out;
}

std::string message(const std::vector<Hdf5Filter>& filters, Bytes stored, std::size_t size) {
  try {
    static_cast<void>(undo_filters(filters, 0, std::move(stored), size));
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

const Hdf5Filter kDeflate{kDeflateFilter, {6}};
const Hdf5Filter kFletcher{kFletcherFilter, {}};

TEST_CASE("filters are undone from the last to the first, but for those that were skipped") {
  const Bytes plain = counting(100'000);
  CHECK(undo_filters(std::vector{kDeflate}, 0, deflated(plain), plain.size()) == plain);
  CHECK(undo_filters(std::vector{kDeflate}, 1, plain, plain.size()) == plain);
  // Shuffled by hand: all first bytes of three elements of two, then all second ones, then the
  // rest.
  const Bytes shuffled = {std::byte{0}, std::byte{2}, std::byte{4}, std::byte{1},
                          std::byte{3}, std::byte{5}, std::byte{6}};
  const Bytes in_order = undo_filters(std::vector{Hdf5Filter{kShuffleFilter, {2}}}, 0, shuffled, 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(in_order[i] == static_cast<std::byte>(i));
}

TEST_CASE("a fletcher32 checksum of four bytes is that of its definition") {
  // Words 0x0102 and 0x0304: low = 0x0406, high = 0x0102 + 0x0406 = 0x0508.
  const Bytes stored = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                        std::byte{6}, std::byte{4}, std::byte{8}, std::byte{5}};
  CHECK(undo_filters(std::vector{kFletcher}, 0, stored, 4).size() == 4);
  Bytes wrong = stored;
  wrong[1] = std::byte{3};
  CHECK(message({kFletcher}, wrong, 4)
            .starts_with("fletcher32 checksum of a chunk does not match: stored 05080406"));
  CHECK(message({kFletcher}, {}, 4) == "chunk is smaller than its checksum");
}

TEST_CASE("H508: hostile filters are bounded or refused") {
  const Bytes bomb = deflated(Bytes(std::size_t{64} << 20));
  CHECK(message({kDeflate}, bomb, 1000) == "deflated chunk holds more than 1004 bytes");
  Bytes cut = deflated(counting(50'000));
  cut.resize(cut.size() / 2);
  CHECK(message({kDeflate}, cut, 50'000).starts_with("deflated chunk is damaged after "));
  CHECK(message({kDeflate}, counting(100), 50)
            .starts_with("deflated chunk is damaged after 0 bytes"));
  CHECK(message({kDeflate}, deflated(counting(10)), 20) ==
        "chunk holds 10 bytes where its shape needs 20");
  CHECK(unsupported(std::vector{Hdf5Filter{32000, {}}}) == "unsupported HDF5 filter 32000");
  CHECK(unsupported(std::vector{Hdf5Filter{6, {}}}) == "unsupported HDF5 filter 6");
  CHECK(!unsupported(std::vector<Hdf5Filter>(33, kDeflate)).empty());
  CHECK(undo_filters(std::vector{Hdf5Filter{kShuffleFilter, {1U << 31}}}, 0, counting(10), 10) ==
        counting(10));
}

TEST_CASE("parameters that HDF5 refuses are told apart from filters that it has and we have not") {
  using All = std::vector<Hdf5Filter>;
  CHECK(refused(All{kDeflate, {kShuffleFilter, {4}}, kFletcher, {32000, {}}}).empty());
  CHECK(refused(All{{kDeflateFilter, {}}}) == "HDF5 filter deflate has 0 parameters, 1 expected");
  CHECK(refused(All{{kDeflateFilter, {6, 0}}}) ==
        "HDF5 filter deflate has 2 parameters, 1 expected");
  CHECK(refused(All{{kDeflateFilter, {10}}}) == "deflated at level 10, 9 is the highest");
  CHECK(refused(All{{kShuffleFilter, {}}}) == "HDF5 filter shuffle has 0 parameters, 1 expected");
  CHECK(refused(All{{kShuffleFilter, {0}}}) == "shuffled in elements of no bytes");
}

}  // namespace
}  // namespace ttcheck::formats
