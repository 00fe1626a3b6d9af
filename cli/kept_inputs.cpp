// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_inputs.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.hpp"
#include "formats/bytes/place.hpp"
#include "formats/bytes/replace_file.hpp"
#include "formats/bytes/root.hpp"
#include "formats/sandbox/broker.hpp"

namespace ttcheck::cli {
namespace {

void refuse_input(const Options& options, const std::string& path) {
  const std::optional<formats::DiskPlace> there = formats::place_of(path);
  if (!there) return;
  if (there == formats::place_of(options.replay)) return;  // a log is replayed, and goes on
  if (formats::was_opened(path)) throw Error("was read, and is not replaced", {.file = path});
  for (const std::string& input : inputs_of(options)) {
    const std::optional<formats::DiskPlace> given = formats::place_of(input);
    if (given == there) throw Error("is an input, and is not replaced", {.file = path});
    if (given && given->directory && formats::lies_in(path, *given)) {
      throw Error("lies in a run that is read, and is not replaced", {.file = path});
    }
  }
}

}  // namespace

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

std::vector<std::string> outputs_of(const Options& options) {
  std::vector<std::string> outputs = {options.log, options.write, options.limits_out};
  for (const OutputTarget& target : options.outputs) outputs.push_back(target.path);
  std::erase(outputs, "-");
  std::erase(outputs, "");
  return outputs;
}

void refuse_inputs(const Options& options) {
  for (const std::string& path : outputs_of(options)) refuse_input(options, path);
}

void write_output(const Options& options, const std::string& path, std::string_view text) {
  refuse_input(options, path);
  if (!formats::is_apart()) return formats::replace_file(path, text);
  const std::vector<std::string> outputs = outputs_of(options);
  const auto number = std::ranges::find(outputs, path) - outputs.begin();
  formats::run_errand(kWriting, static_cast<std::uint64_t>(number), text);
}

}  // namespace ttcheck::cli
