// SPDX-License-Identifier: Apache-2.0
#pragma once
// One member of a zip archive, as its headers describe it.

#include <cstdint>
#include <string>

namespace ttcheck::formats {

/// What a central and a local header both have, in the same order: from the flags on.
struct ZipFields {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0;
  std::uint16_t name_size = 0, extra_size = 0;
};

/// One member. Names are bytes: they never become paths.
struct ZipMember {
  explicit ZipMember(const ZipFields& fields);

  std::string name;
  std::uint64_t entry = 0;   ///< offset of its entry in the directory
  std::uint64_t header = 0;  ///< offset of its local header
  std::uint64_t data = 0;    ///< offset of its first byte
  std::uint64_t end = 0;     ///< offset behind its bytes and its data descriptor
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes once unpacked
  std::uint32_t crc = 0;     ///< as stored; 0: none
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;
  std::uint32_t attributes = 0;  ///< external ones
  bool disputed = false;         ///< its local header states other sizes than the directory
  bool cut = false;              ///< the file ends before its last byte; `size` is what is there
  std::string problem;           ///< why its bytes cannot be read; empty: they can
};

}  // namespace ttcheck::formats
