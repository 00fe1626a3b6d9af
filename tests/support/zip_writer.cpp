// SPDX-License-Identifier: Apache-2.0
#include "tests/support/zip_writer.hpp"

#include <zlib.h>

#include "tests/support/pickle_writer.hpp"

namespace ttcheck::tests {
namespace {

std::string deflated(std::string_view data) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, data.size()), '\0');
  std::string in(data);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

void ZipWriter::add(std::string_view name, std::string_view data, Options options) {
  const std::string packed = options.deflate ? deflated(data) : std::string(data);
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  const std::string narrow =
      options.zip64 ? std::string(8, '\xff') : little(packed.size(), 4) + little(data.size(), 4);
  const std::string extra = options.zip64 ? little(1, 2) + little(16, 2) + little(data.size(), 8) +
                                                little(packed.size(), 8)
                                          : "";
  const std::string fixed = little(20, 2) + little(options.descriptor ? 8 : 0, 2) +
                            little(options.deflate ? 8 : 0, 2) + little(0, 4);
  const auto lengths = [&](std::size_t extra_size) {
    return little(name.size(), 2) + little(extra_size, 2);
  };
  Place place;
  place.header = bytes.size();
  bytes +=
      "PK\3\4" + fixed + (options.descriptor ? std::string(12, '\0') : little(crc, 4) + narrow) +
      lengths(extra.size() + options.padding.size()) + std::string(name) + extra + options.padding;
  place.data = bytes.size();
  place.packed = packed.size();
  bytes += packed;
  if (options.descriptor)
    bytes += "PK\7\10" + little(crc, 4) + little(packed.size(), 4) + little(data.size(), 4);
  places.push_back(place);
  central_.push_back("PK\1\2" + little(20, 2) + fixed + little(crc, 4) + narrow +
                     lengths(extra.size()) + little(0, 2) + little(0, 2) + little(0, 2) +
                     little(0, 4) + little(place.header, 4) + std::string(name) + extra);
}

std::string ZipWriter::finish(bool zip64_end) {
  directory = bytes.size();
  for (std::size_t i = 0; i < central_.size(); ++i) {
    places[i].central = bytes.size();
    bytes += central_[i];
  }
  const std::size_t size = bytes.size() - directory;
  if (zip64_end) {
    const std::size_t record = bytes.size();
    bytes += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
             little(central_.size(), 8) + little(central_.size(), 8) + little(size, 8) +
             little(directory, 8);
    bytes += "PK\6\7" + little(0, 4) + little(record, 8) + little(1, 4);
  }
  end = bytes.size();
  bytes += "PK\5\6" + little(0, 4) + little(central_.size(), 2) + little(central_.size(), 2) +
           little(size, 4) + little(directory, 4) + little(0, 2);
  return bytes;
}

std::string patched(std::string bytes, std::size_t at, std::string_view patch) {
  bytes.replace(at, patch.size(), patch);
  return bytes;
}

}  // namespace ttcheck::tests
