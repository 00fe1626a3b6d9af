// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/model/codes.hpp"
#include "reports/screen_words.hpp"

namespace ttcheck::cli {
namespace {

/// The words an argument may be, where the table fixes them.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  if (command.name == "completion") return {"bash", "zsh", "fish"};
  if (command.name == "explain") {
    for (const CodeInfo& row : codes()) {
      words.push_back(to_string(row.code));
      if (!row.reserved) words.emplace_back(row.name);
    }
    for (const reports::ScreenWord& row : reports::screen_words()) {
      const bool one = row.word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == row.word.npos;
      if (one) words.emplace_back(row.word);
    }
  }
  return words;
}

std::vector<const Command*> visible() {
  std::vector<const Command*> shown;
  for (const Command& command : commands()) {
    if (!command.hidden) shown.push_back(&command);
  }
  return shown;
}

template <class Of>
std::string joined(const Of& of) {
  std::vector<std::string> names;
  for (const Command* command : visible()) names.emplace_back(of(*command));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string names_of_commands() {
  return joined([](const Command& command) { return command.name; });
}

std::string flag_names(const Command& command) {
  std::vector<std::string_view> names{"--help"};
  for (const Flag* flag : flags_of(command)) names.push_back(flag->name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash() {
  std::string text = "# bash completion for ttcheck\n_ttcheck() {\n";
  text += "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n";
  text += "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format("    words='{} --help --version'\n", names_of_commands());
  text += "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n    return\n  fi\n";
  text += "  case $before in\n";
  for (const Flag& flag : flags()) {
    if (flag.value.empty()) continue;
    const auto words = alternatives(flag);
    const std::string_view files = flag.value.ends_with("|FILE") ? " -f" : "";
    text +=
        words.empty()
            ? fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n",
                          flag.name)
            : fmt::format(
                  "    {}) mapfile -t COMPREPLY < <(compgen -W '{}'{} -- \"$word\"); return ;;\n",
                  flag.name, fmt::join(words, " "), files);
  }
  text += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Command* command : visible()) {
    text += fmt::format("    {}) words='{} {}' ;;\n", command->name, flag_names(*command),
                        fmt::join(words_of(*command), " "));
  }
  text += "  esac\n  case $word in\n";
  text += "    -*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;\n";
  text +=
      "    *) mapfile -t COMPREPLY < <(compgen -W \"${words//-[^ ]*/}\" -- \"$word\"; compgen -f "
      "-- \"$word\") ;;\n";
  return text + "  esac\n}\ncomplete -o filenames -F _ttcheck ttcheck\n";
}

/// The text in single quotes; brackets and colons are special in zsh's specifications.
std::string zsh_text(std::string_view text) {
  std::string quoted;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':') quoted += '\\';
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return quoted;
}

std::string zsh_flag(const Flag& flag) {
  std::string value;
  if (!flag.value.empty()) {
    const auto words = alternatives(flag);
    value = fmt::format(":{}:{}", zsh_text(flag.value.substr(0, flag.value.find('|'))),
                        words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " ")));
  }
  return fmt::format("        '*{}[{}]{}'", flag.name, zsh_text(flag.summary), value);
}

std::string zsh() {
  std::string text = "#compdef ttcheck\n# zsh completion for ttcheck\n_ttcheck() {\n";
  text += "  local -a commands\n  commands=(\n";
  for (const Command* command : visible()) {
    text += fmt::format("    '{}:{}'\n", command->name, zsh_text(command->summary));
  }
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const Command* command : visible()) {
    std::vector<std::string> specs{"        '--help[show help]'"};
    for (const Flag* flag : flags_of(*command)) specs.push_back(zsh_flag(*flag));
    const auto words = words_of(*command);
    specs.push_back(words.empty() ? "        '*:file:_files'"
                                  : fmt::format("        '1:word:({})'", fmt::join(words, " ")));
    text += fmt::format("    {})\n      _arguments \\\n{}\n      ;;\n", command->name,
                        fmt::join(specs, " \\\n"));
  }
  return text + "  esac\n}\n_ttcheck \"$@\"\n";
}

std::string fish_text(std::string_view text) {
  std::string quoted;
  for (const char letter : text) quoted += letter == '\'' ? "\\'" : std::string(1, letter);
  return quoted;
}

std::string fish() {
  std::string text = "# fish completion for ttcheck\n";
  for (const Command* command : visible()) {
    text += fmt::format("complete -c ttcheck -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command->name, fish_text(command->summary));
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", command->name);
    const auto words = words_of(*command);
    if (!words.empty()) {
      text += fmt::format("complete -c ttcheck -n {} -f -a '{}'\n", seen, fmt::join(words, " "));
    }
    for (const Flag* flag : flags_of(*command)) {
      const bool is_long = flag->name.starts_with("--");
      text += fmt::format("complete -c ttcheck -n {} {} {} -d '{}'", seen, is_long ? "-l" : "-s",
                          flag->name.substr(is_long ? 2 : 1), fish_text(flag->summary));
      const auto choices = alternatives(*flag);
      if (!choices.empty()) text += fmt::format(" -x -a '{}'", fmt::join(choices, " "));
      if (choices.empty() && !flag->value.empty()) text += " -r";
      text += "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_for(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw Usage(fmt::format("completion: expected bash, zsh or fish, got '{}'{}", shell,
                          did_you_mean(shell, {"bash", "zsh", "fish"})));
}

int completion(const Options& options) {
  write_stdout(completion_for(options.words[0]));
  return 0;
}

}  // namespace ttcheck::cli
