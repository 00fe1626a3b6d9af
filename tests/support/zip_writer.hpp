// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small valid zip archive whose places are known, so that a test can spoil one field of it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::tests {

struct ZipWriter {
  struct Options {
    bool deflate = false;
    bool descriptor = false;  ///< sizes and CRC behind the data, zeroes in the local header
    bool zip64 = false;       ///< sizes in extra fields, with all ones in the plain ones
    std::string padding{};    ///< extra field of the local header alone, as it is
  };
  struct Place {
    std::size_t header = 0, data = 0, packed = 0, central = 0;
  };

  void add(std::string_view name, std::string_view data) { add(name, data, Options()); }
  void add(std::string_view name, std::string_view data, Options options);

  /// Writes the directory and the end record; `zip64_end` also the zip64 record and locator.
  std::string finish(bool zip64_end = false);

  std::string bytes;
  std::vector<Place> places;  ///< of the members; `central` is set by finish()
  std::size_t directory = 0;  ///< set by finish()
  std::size_t end = 0;        ///< of the plain end record; set by finish()

 private:
  std::vector<std::string> central_;
};

/// Overwrites `patch.size()` bytes at `at`.
std::string patched(std::string bytes, std::size_t at, std::string_view patch);

}  // namespace ttcheck::tests
