// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/boundary.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace ttcheck::formats {
namespace {

/// Where the blobs of a snapshot of a hub cache lie, by its path without links; empty for others.
std::string blobs_of(const std::string& directory) {
  const auto [parent, name] = split_path(split_path(directory).first);
  return name == "snapshots" ? (parent == "/" ? "" : parent) + "/blobs" : "";
}

}  // namespace

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

bool is_missing(int error) { return error == ENOENT || error == ENOTDIR; }
bool is_of_link(int error) { return error == EXDEV || error == ELOOP; }

Error open_error(const std::string& file, int error) {
  std::string message =
      error == EXDEV   ? "leads out of the run, and links are followed only inside it"
      : error == ELOOP ? "is a link that leads to itself, or a chain of too many links"
                       : "cannot be opened: " + std::generic_category().message(error);
  if (is_missing(error)) return Error(std::move(message), {file, {}, {}}).because("missing");
  return Error::unable(std::move(message), {file, {}, {}});
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), &free);
  if (!real) throw open_error(path, errno);
  return real.get();
}

Boundary find_boundary(const std::string& given_directory) {
  const std::string directory = real_path(given_directory);
  Descriptor given(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!given) throw open_error(directory, errno);
  const std::string blobs = blobs_of(directory);
  if (blobs.empty()) return {std::move(given), {}};
  return {std::move(given),
          Descriptor(open(blobs.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))};
}

std::string blob_of(int snapshot, const std::string& path) {
  const auto [folder, name] = split_path(path);
  const Descriptor directory = open_beneath(snapshot, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!directory) return {};
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(directory.get(), name.c_str(), target.data(), target.size());
  if (length <= 0) return {};
  const std::string_view text(target.data(), static_cast<std::size_t>(length));
  std::string wanted = "../../";
  for (const char c : path) wanted += c == '/' ? "../" : "";
  wanted += "blobs/";
  if (!text.starts_with(wanted)) return {};
  const std::string_view blob = text.substr(wanted.size());
  return is_plain_path(blob) && blob.find('/') == std::string_view::npos ? std::string(blob) : "";
}

std::vector<std::string> reach_of(const std::string& path, bool follow_links) {
  if (follow_links) return {"/"};
  std::vector<std::string> places = {path};
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), &free);
  if (!real) return places;
  std::string blobs = blobs_of(real.get());
  if (!blobs.empty()) places.push_back(std::move(blobs));
  return places;
}

}  // namespace ttcheck::formats
