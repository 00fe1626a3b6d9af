// SPDX-License-Identifier: Apache-2.0
#include "cli/apart.hpp"

#include <string>
#include <utility>
#include <vector>

#include "cli/kept_inputs.hpp"
#include "cli/step_predicate.hpp"
#include "formats/bytes/boundary.hpp"
#include "formats/bytes/replace_file.hpp"
#include "formats/sandbox/broker.hpp"
#include "formats/sandbox/confine.hpp"

namespace ttcheck::cli {

void confine_to(const Options& options) {
  const auto write = [outputs = outputs_of(options)](std::uint64_t number, std::string_view text) {
    formats::replace_file(outputs.at(number), text);
    return std::uint64_t{0};
  };
  const auto run = [&options](std::uint64_t, std::string_view step) {
    return static_cast<std::uint64_t>(run_predicate(step, options));
  };
  static_assert(kWriting == 0 && kRunning == 1);
  if (!formats::set_apart({write, run})) return;
  std::vector<std::string> inputs = inputs_of(options), readable;
  inputs.push_back(options.replay);  // a log: what it replays it may replace
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    for (std::string& place : formats::reach_of(input, options.follow_links)) {
      readable.push_back(std::move(place));
    }
  }
  formats::confine(std::move(readable));
}

}  // namespace ttcheck::cli
