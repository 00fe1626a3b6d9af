// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <fmt/format.h>

#include "core/base/version.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::string_view kExit =
    "Exit code, a sum: 0 equal or noise, 1 a difference, 2 something could not be checked.\n";

std::string row(std::string_view name, std::string_view summary) {
  constexpr std::size_t kColumn = 34;
  const bool fits = name.size() <= kColumn - 4;
  return fits ? fmt::format("  {:<{}}{}\n", name, kColumn - 2, summary)
              : fmt::format("  {}\n{:{}}{}\n", name, "", kColumn, summary);
}

}  // namespace

std::string version_line() { return fmt::format("ttcheck {}\n", version()); }

std::string help() {
  std::string text =
      "ttcheck says from checkpoints and traces alone: same, noise or diverged; where first; "
      "why.\n\n"
      "Usage: ttcheck COMMAND [flags] ...\n\nCommands\n";
  for (const Command& command : commands()) {
    if (!command.hidden) text += row(command.name, command.summary);
  }
  text += "\nTry\n";
  text += row("ttcheck diff REFERENCE CANDIDATE", "zero flags do the right thing");
  text += row("ttcheck COMMAND --help", "flags of one command");
  text += row("man ttcheck", "everything");
  return text + "\n" + std::string(kExit);
}

std::string usage_line(const Command& command) {
  std::string line = fmt::format("ttcheck {}", command.name);
  if (!command.groups.empty()) line += " [flags]";
  for (const Argument& argument : command.arguments) {
    line +=
        argument.required ? fmt::format(" {}", argument.name) : fmt::format(" [{}]", argument.name);
    if (argument.many) line += "...";
  }
  return line;
}

std::string help_of(const Command& command) {
  std::string text =
      fmt::format("{}: {}\n\nUsage: {}\n\n", command.name, command.summary, usage_line(command));
  for (const Argument& argument : command.arguments) text += row(argument.name, argument.summary);
  for (const FlagGroup group : command.groups) {
    text += fmt::format("\n{}\n", title(group));
    for (const Flag& flag : flags()) {
      if (flag.group != group) continue;
      text += row(
          flag.value.empty() ? std::string(flag.name) : fmt::format("{} {}", flag.name, flag.value),
          flag.summary);
      if (flag.name != "--out") continue;
      for (const reports::Report& report : reports::reports()) {
        text += row(fmt::format("  {}", report.name), report.summary);
      }
    }
  }
  if (!command.examples.empty()) text += "\nExamples\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  {}\n      {}\n", example.words, example.purpose);
  }
  return command.groups.empty() ? text : text + "\n" + std::string(kExit);
}

}  // namespace ttcheck::cli
