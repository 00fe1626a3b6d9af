// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/place.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

namespace ttcheck::formats {

std::optional<DiskPlace> place_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return DiskPlace{status.st_dev, status.st_ino, S_ISDIR(status.st_mode)};
}

bool lies_in(const std::string& path, const DiskPlace& run) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &::free);
  if (!real && errno == ENOMEM) throw std::bad_alloc();
  std::string above = real ? real.get() : "";
  while (above.size() > 1) {
    above.resize(std::max<std::size_t>(above.rfind('/'), 1));
    if (place_of(above) == run) return true;
  }
  return false;
}

std::uint64_t bytes_below(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return fs::file_size(path, ignored);
  std::uint64_t bytes = 0;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, skip, ignored), end; at != end;
       at.increment(ignored)) {
    if (!at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (size != static_cast<std::uintmax_t>(-1)) bytes += size;
  }
  return bytes;
}

}  // namespace ttcheck::formats
