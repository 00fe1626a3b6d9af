// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_inputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.hpp"
#include "formats/bytes/replace_file.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::cli {
namespace {

/// The file or directory itself, whatever name or link leads to it.
struct Place {
  dev_t device;
  ino_t inode;
  bool directory;

  bool operator==(const Place&) const = default;
};

std::optional<Place> place_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Place{status.st_dev, status.st_ino, S_ISDIR(status.st_mode)};
}

std::vector<std::string> inputs_of(const Options& options) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < options.words.size(); ++i) {
    const bool tensor = options.command == "show" && i == 1;
    if (!tensor) inputs.push_back(options.words[i]);
  }
  inputs.insert(inputs.end(), options.others.begin(), options.others.end());
  for (const auto* files : {&options.layouts, &options.manifests}) {
    for (const SideFile& file : *files) inputs.push_back(file.path);
  }
  inputs.insert(inputs.end(), options.maps.begin(), options.maps.end());
  inputs.insert(inputs.end(), {options.limits_file, options.base, options.verify, options.known});
  return inputs;
}

/// Whether a directory above what is at `path` is `run`.
bool lies_in(const std::string& path, const Place& run) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &::free);
  std::string above = real ? real.get() : "";
  while (above.size() > 1) {
    above.resize(std::max<std::size_t>(above.rfind('/'), 1));
    if (place_of(above) == run) return true;
  }
  return false;
}

void refuse_input(const Options& options, const std::string& path) {
  const std::optional<Place> there = place_of(path);
  if (!there) return;
  if (there == place_of(options.replay)) return;  // a log is replayed, and goes on
  if (formats::was_opened(path)) throw Error("was read, and is not replaced", {.file = path});
  for (const std::string& input : inputs_of(options)) {
    const std::optional<Place> given = place_of(input);
    if (given == there) throw Error("is an input, and is not replaced", {.file = path});
    if (given && given->directory && lies_in(path, *given)) {
      throw Error("lies in a run that is read, and is not replaced", {.file = path});
    }
  }
}

}  // namespace

void refuse_inputs(const Options& options) {
  for (const OutputTarget& target : options.outputs) {
    if (target.path != "-") refuse_input(options, target.path);
  }
  for (const std::string* path : {&options.log, &options.write, &options.limits_out}) {
    if (!path->empty() && *path != "-") refuse_input(options, *path);
  }
}

void write_output(const Options& options, const std::string& path, std::string_view text) {
  refuse_input(options, path);
  formats::replace_file(path, text);
}

}  // namespace ttcheck::cli
