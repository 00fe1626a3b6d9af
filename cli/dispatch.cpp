// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/base/parallel.hpp"
#include "reports/shell_words.hpp"

namespace ttcheck::cli {
namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (!command.hidden) names.emplace_back(command.name);
  }
  return names;
}

/// What is meant where the first word is none: `compare`, or a pair of files.
std::string meant(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> kDiff = {"compare", "cmp", "comparison"};
  const std::string& first = words.front();
  if (std::ranges::find(kDiff, first) != kDiff.end()) return "; did you mean 'diff'?";
  if (first == "version") return "; did you mean '--version'?";
  std::error_code none;
  if (words.size() == 2 && std::filesystem::exists(first, none)) {
    const std::string command = reports::shell_words({"ttcheck", "diff", first, words.back()});
    if (!command.empty()) return fmt::format("; did you mean: {}", command);
  }
  return did_you_mean(first, command_names());
}

const Command& known_command(const std::vector<std::string>& words) {
  const Command* command = command_named(words.front());
  if (command != nullptr) return *command;
  throw Usage(fmt::format("expected a command ({}), got '{}'{}", fmt::join(command_names(), ", "),
                          words.front(), meant(words)));
}

/// A parser that stores into `options`, which must outlive it.
std::unique_ptr<CLI::App> parser_of(const Command& command, Options& options) {
  auto parser = std::make_unique<CLI::App>();
  parser->allow_extras();
  options.words.resize(command.arguments.size());
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    parser->add_option(std::string(command.arguments[i].name), options.words[i]);
  }
  for (const Flag* flag : flags_of(command)) {
    const std::string name(flag->name);
    if (flag->value.empty()) {
      parser->add_flag_function(name, [flag, &options](std::int64_t times) {
        for (; times > 0; --times) flag->set(options, "");
      });
      continue;
    }
    const CLI::callback_t set = [flag, &options](const CLI::results_t& values) {
      for (const std::string& value : values) flag->set(options, value);
      return true;
    };
    parser->add_option(name, set)
        ->type_size(1)
        ->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(false);
  }
  return parser;
}

/// Says what is wrong with words that no flag or argument took.
Usage unexpected(const Command& command, const std::vector<std::string>& left) {
  std::vector<std::string> names;
  for (const Flag* flag : flags_of(command)) names.emplace_back(flag->name);
  for (const std::string& word : left) {
    if (word.size() < 2 || word.front() != '-') continue;
    const std::string flag = word.substr(0, word.find('='));
    return Usage(
        fmt::format("{}: unknown flag {}{}", command.name, flag, did_you_mean(flag, names)));
  }
  return Usage(fmt::format("{}: unexpected argument '{}'; usage: {}", command.name, left.front(),
                           usage_line(command)));
}

/// Says which flag was given without the value it takes.
Usage value_missing(const Command& command, const std::vector<std::string>& words) {
  const std::string& last = words.back();
  for (const Flag* flag : flags_of(command)) {
    if (last == flag->name)
      return Usage(fmt::format("{}: expected {} after it", last, flag->value));
  }
  return Usage(
      fmt::format("{}: a flag lacks its value; usage: {}", command.name, usage_line(command)));
}

/// Takes the second group of --ensemble away, which follows `--`.
std::vector<std::string> second_group(std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  if (std::find(words.begin(), dashes, "--ensemble") == dashes) return {};
  std::vector<std::string> others(dashes == words.end() ? dashes : dashes + 1, words.end());
  words.erase(dashes, words.end());
  return others;
}

/// Parses into `options`; false when help was asked for and printed.
bool parse(const Command& command, std::vector<std::string> words, Options& options) {
  const auto parser = parser_of(command, options);
  options.others = second_group(words);
  try {
    parser->parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 takes them
  } catch (const CLI::CallForHelp&) {
    write_stdout(help_of(command));
    return false;
  } catch (const CLI::ArgumentMismatch&) {
    throw value_missing(command, words);
  } catch (const CLI::ParseError& error) {
    throw Usage(fmt::format("{}: {}; usage: {}", command.name, error.what(), usage_line(command)));
  }
  std::vector<std::string> left = parser->remaining();
  std::erase(left, "--");
  const bool many =
      options.ensemble || (!command.arguments.empty() && command.arguments.back().many);
  const bool words_alone = std::ranges::none_of(
      left, [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (many && words_alone) {
    options.words.insert(options.words.end(), left.begin(), left.end());
    left.clear();
  }
  if (!left.empty()) throw unexpected(command, left);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    if (command.arguments[i].required && options.words[i].empty()) {
      throw Usage(fmt::format("{}: {} is missing; usage: {}", command.name,
                              command.arguments[i].name, usage_line(command)));
    }
  }
  return true;
}

bool takes_value(std::string_view name) {
  return std::ranges::any_of(
      flags(), [&](const Flag& flag) { return flag.name == name && !flag.value.empty(); });
}

}  // namespace

std::vector<std::string> words_that_matter(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 6> kLeftOut = {"--threads",  "--max-memory", "--out",
                                                        "--progress", "--timing",     "--color"};
  std::vector<std::string> kept;
  bool flags_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    if (!flags_end && std::ranges::find(kLeftOut, flag) != kLeftOut.end()) {
      const bool alone = flag.size() == words[i].size();
      if (alone && takes_value(flag)) ++i;  // it is the next word
      continue;
    }
    flags_end = flags_end || words[i] == "--";
    kept.push_back(words[i]);
  }
  return kept;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    write_stderr(help());
    return 2;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    write_stdout(words.size() == 1 ? help() : help_of(known_command({words[1]})));
    return 0;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    write_stdout(version_line());
    return 0;
  }
  const Command& command = known_command(words);
  Options options;
  options.command = words[0];
  options.argv = words_that_matter(words);
  if (!parse(command, {words.begin() + 1, words.end()}, options)) return 0;
  set_threads(options.threads);
  return command.run(options);
}

}  // namespace ttcheck::cli
