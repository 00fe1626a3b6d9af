// SPDX-License-Identifier: Apache-2.0
#include "cli/man.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/model/codes.hpp"
#include "core/model/metric_rows.hpp"
#include "core/model/name_rules.hpp"
#include "core/noise/rules.hpp"
#include "formats/open.hpp"

namespace ttcheck::cli {
namespace {

/// Text as roff takes it: no control line, no escape, no end of sentence.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\\')
      safe += "\\e";
    else if (letter == '-')
      safe += "\\-";
    else
      safe += letter;
  }
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

std::string item(std::string_view head, std::string_view summary) {
  return fmt::format(".It {}\n{}.\n", head, roff(summary));
}

std::string flag_item(const Flag& flag) {
  const std::string value = flag.value.empty() ? "" : fmt::format(" Ar {}", roff(flag.value));
  return item(fmt::format("Fl {}{}", roff(flag.name.substr(1)), value), flag.summary);
}

std::string options_of(const Command& command) {
  std::string text;
  for (const FlagGroup group : command.groups) {
    text += fmt::format(".Ss {}\n.Bl -tag -width Ds\n", title(group));
    for (const Flag& flag : flags()) {
      if (flag.group == group) text += flag_item(flag);
    }
    text += ".El\n";
  }
  return text;
}

template <class Rows, class Name>
std::string table(const Rows& rows, const Name& name_of) {
  std::string text = ".Bl -tag -width Ds\n";
  for (const auto& row : rows) text += item(name_of(row), row.summary);
  return text + ".El\n";
}

/// Each sentence on a line of its own.
std::string sentences(std::string_view text) {
  std::string lines = roff(text);
  for (std::size_t at = lines.find(". "); at != lines.npos; at = lines.find(". ", at)) {
    lines[at + 1] = '\n';
  }
  return lines;
}

/// A row is a sentence of each of its columns.
std::string rules_of_chance() {
  std::string text = ".Bl -tag -width Ds\n";
  for (const noise::ChanceRule& rule : noise::rules()) {
    text += item(fmt::format("Em {}", roff(rule.name)), fmt::format("Of {}", rule.of));
    text += fmt::format("Allows {}.\n{}\nReads {}.\n", sentences(rule.allows),
                        sentences(rule.derivation), sentences(rule.reads));
  }
  return text + ".El\n";
}

/// How a tensor meets its counterpart, in the order in which it is tried.
std::string rules_of_names() {
  std::string text = ".Bl -tag -width Ds\n";
  for (const NameRule& rule : name_rules()) {
    text += item(fmt::format("Em {}", roff(rule.name)), rule.says);
  }
  return text + ".El\n";
}

}  // namespace

int man(const Options& options) {
  const std::string& page = options.words[0];
  const auto plain = [](const auto& row) { return fmt::format("Cm {}", roff(row.name)); };
  std::string text;
  if (const Command* command = command_named(page)) {
    text = options_of(*command);
  } else if (page == "commands") {
    text = ".Bl -tag -width Ds\n";
    for (const Command& row : commands()) {
      if (row.hidden) continue;
      std::string head = fmt::format("Ic {}", row.name);
      for (const Argument& argument : row.arguments) {
        head += fmt::format(" {}Ar {}{}", argument.required ? "" : "Op ", argument.name,
                            argument.many ? " ..." : "");
      }
      text += item(head, row.summary);
    }
    text += ".El\n";
  } else if (page == "codes") {
    text = table(codes(), [](const CodeInfo& row) {
      return fmt::format("Sy {} Pq Cm {}", to_string(row.code), roff(row.name));
    });
  } else if (page == "formats") {
    text = table(formats::formats(), plain);
  } else if (page == "reports") {
    text = table(reports::reports(), plain);
  } else if (page == "metrics") {
    text = table(metric_rows(), plain);
  } else if (page == "details") {
    text = table(detail_rows(), plain);
  } else if (page == "rules") {
    text = rules_of_chance();
  } else if (page == "names") {
    text = rules_of_names();
  } else {
    throw Usage(fmt::format(
        "man: expected a command, commands, codes, details, formats, metrics, names, reports or "
        "rules, got '{}'",
        page));
  }
  write_stdout(text);
  return 0;
}

}  // namespace ttcheck::cli
