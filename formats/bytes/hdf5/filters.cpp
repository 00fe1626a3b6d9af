// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/filters.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kChecksum = 4;                 // bytes that fletcher32 appends
constexpr std::size_t kStep = std::size_t{1} << 16;  // first guess and growth of inflated bytes

std::vector<std::byte> inflate_all(std::span<const std::byte> stored, std::size_t limit) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw Error("zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  std::vector<std::byte> out;
  std::size_t made = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (made == out.size()) {
      if (made > limit) throw Error(fmt::format("deflated chunk holds more than {} bytes", limit));
      out.resize(std::min(std::max(kStep, 2 * made), limit + 1));
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size() - made, 1U << 30));
    const uInt room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    made += room - stream.avail_out;
  }
  if (status != Z_STREAM_END) {
    throw Error(fmt::format("deflated chunk is damaged after {} bytes: {}", made,
                            stream.msg != nullptr ? stream.msg : "it ends early"));
  }
  out.resize(made);
  return out;
}

std::vector<std::byte> unshuffle(const std::vector<std::byte>& in, std::size_t width) {
  const std::size_t count = in.size() / width;
  std::vector<std::byte> out(in.size());
  for (std::size_t byte = 0; byte < width; ++byte) {
    const std::byte* from = in.data() + byte * count;
    std::byte* to = out.data() + byte;
    for (std::size_t i = 0; i < count; ++i) to[i * width] = from[i];
  }
  const std::size_t whole = count * width;  // what is left over was not shuffled
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(whole), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(whole));
  return out;
}

/// Fletcher's checksum over big-endian 16-bit words, sums modulo 65535.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t kBlock = 360;  // words before a 32-bit sum could overflow
  std::uint32_t low = 0, high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16U); };
  const std::size_t words = bytes.size() / 2;
  for (std::size_t i = 0; i < words; ++i) {
    low += std::to_integer<std::uint32_t>(bytes[2 * i]) << 8U |
           std::to_integer<std::uint32_t>(bytes[2 * i + 1]);
    high += low;
    if (i % kBlock == kBlock - 1) low = fold(low), high = fold(high);
  }
  low = fold(low), high = fold(high);
  if (bytes.size() % 2 != 0) {
    low += std::to_integer<std::uint32_t>(bytes.back()) << 8U;
    high += low;
    low = fold(low), high = fold(high);
  }
  return fold(high) << 16U | fold(low);
}

void check_fletcher(std::vector<std::byte>& bytes) {
  if (bytes.size() < kChecksum) throw Error("chunk is smaller than its checksum");
  const std::size_t size = bytes.size() - kChecksum;
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + size, kChecksum);  // little-endian, as this machine
  bytes.resize(size);
  const std::uint32_t computed = fletcher32(bytes);
  // Libraries before 1.6.3 wrote each half with its bytes swapped.
  const std::uint32_t swapped = (computed & 0x00ff00ffU) << 8U | (computed >> 8U & 0x00ff00ffU);
  if (stored != computed && stored != swapped) {
    throw Error(
        fmt::format("fletcher32 checksum of a chunk does not match: stored {:08x}, computed {:08x}",
                    stored, computed));
  }
}

}  // namespace

static_assert(std::endian::native == std::endian::little);

std::string refused(std::span<const Hdf5Filter> filters) {
  constexpr std::uint32_t kHighestLevel = 9;
  for (const auto& [id, parameters] : filters) {
    if (id != kDeflateFilter && id != kShuffleFilter) continue;
    const std::string_view name = id == kDeflateFilter ? "deflate" : "shuffle";
    if (parameters.size() != 1) {
      return fmt::format("HDF5 filter {} has {} parameters, 1 expected", name, parameters.size());
    }
    if (id == kDeflateFilter && parameters[0] > kHighestLevel) {
      return fmt::format("deflated at level {}, {} is the highest", parameters[0], kHighestLevel);
    }
    if (id == kShuffleFilter && parameters[0] == 0) return "shuffled in elements of no bytes";
  }
  return "";
}

std::string unsupported(std::span<const Hdf5Filter> filters) {
  for (const Hdf5Filter& filter : filters) {
    if (filter.id != kDeflateFilter && filter.id != kShuffleFilter &&
        filter.id != kFletcherFilter) {
      return fmt::format("unsupported HDF5 filter {}", filter.id);
    }
  }
  return filters.size() > 32 ? "more than 32 HDF5 filters" : "";
}

std::vector<std::byte> undo_filters(std::span<const Hdf5Filter> filters, std::uint32_t skipped,
                                    std::vector<std::byte> stored, std::size_t size) {
  const std::size_t limit = size + kChecksum * filters.size();
  for (std::size_t i = filters.size(); i-- > 0;) {
    if ((skipped >> i & 1U) != 0) continue;
    if (filters[i].id == kDeflateFilter) stored = inflate_all(stored, limit);
    if (filters[i].id == kShuffleFilter) stored = unshuffle(stored, filters[i].parameters[0]);
    if (filters[i].id == kFletcherFilter) check_fletcher(stored);
  }
  if (stored.size() != size) {
    throw Error(fmt::format("chunk holds {} bytes where its shape needs {}", stored.size(), size));
  }
  return stored;
}

}  // namespace ttcheck::formats
