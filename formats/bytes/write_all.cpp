// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/write_all.hpp"

#include <unistd.h>

#include <cerrno>

namespace ttcheck::formats {

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace ttcheck::formats
