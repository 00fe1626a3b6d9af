// SPDX-License-Identifier: Apache-2.0
#include "cli/asked.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "cli/command.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::array<std::string_view, 6> kOfRuns = {"info", "diff",     "bisect",
                                                     "show", "manifest", "calibrate"};

RunSummary known_by_path(const std::string& path) {
  RunSummary summary;
  summary.path = path;
  return summary;
}

/// `arguments`: the words behind the command's name; empty ones were not given.
Verdict asked(std::string_view command, std::span<const std::string> arguments, bool writes) {
  const bool show = command == "show";
  const auto path = [&](std::size_t i) -> std::optional<RunSummary> {
    if (i >= arguments.size() || arguments[i].empty()) return std::nullopt;
    return known_by_path(arguments[i]);
  };
  Verdict verdict;
  verdict.command = command;
  if (std::ranges::find(kOfRuns, command) != kOfRuns.end()) verdict.reference = path(0);
  if (show || command == "diff" || command == "bisect") verdict.candidate = path(show ? 2 : 1);
  const bool one =
      command == "info" || (show && !verdict.candidate) || (command == "manifest" && writes);
  if (!one) verdict.outcome = Outcome::not_comparable;
  return verdict;
}

}  // namespace

Verdict asked_by(const Options& options) {
  return asked(options.command, options.words, options.verify.empty());
}

Verdict asked_by(std::span<const std::string> words) {
  const auto is_flag = [](const std::string& word) { return word.starts_with("-"); };
  const bool known = command_named(words[0]) != nullptr;
  const auto flags = std::ranges::find_if(words, is_flag);
  const std::vector<std::string> arguments(words.begin() + 1, std::max(words.begin() + 1, flags));
  const bool verifies = std::ranges::any_of(words, [](const std::string& word) {
    return word == "--verify" || word.starts_with("--verify=");
  });
  return asked(known ? std::string_view(words[0]) : "", arguments, !verifies);
}

}  // namespace ttcheck::cli
