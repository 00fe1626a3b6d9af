// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes of .npy files, by hand.

#include <string>
#include <string_view>

namespace ttcheck::tests {

/// A file of version `major`.0 with this header, as it is, and this data.
inline std::string npy_of(std::string_view header, std::string_view data, char major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return bytes + std::string(header) + std::string(data);
}

/// The usual header.
inline std::string npy_header(std::string_view descr, std::string_view shape,
                              std::string_view fortran = "False") {
  return "{'descr': " + std::string(descr) + ", 'fortran_order': " + std::string(fortran) +
         ", 'shape': " + std::string(shape) + ", }\n";
}

}  // namespace ttcheck::tests
