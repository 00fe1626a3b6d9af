// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/model/codes.hpp"
#include "core/noise/rules.hpp"
#include "reports/explain.hpp"
#include "reports/screen_words.hpp"

namespace ttcheck::cli {
namespace {

std::vector<std::string> code_words() {
  std::vector<std::string> words;
  for (const CodeInfo& row : codes()) {
    words.push_back(to_string(row.code));
    words.emplace_back(row.name);
  }
  for (const reports::ScreenWord& row : reports::screen_words()) words.emplace_back(row.word);
  return words;
}

/// What may excuse a record that is beyond its limit.
std::string rules_of_chance() {
  std::string text;
  for (const noise::ChanceRule& rule : noise::rules()) {
    text += reports::paragraph(
        fmt::format("Rule {}: {}", rule.name, rule.of),
        fmt::format("Allows {}. {} Reads {}.", rule.allows, rule.derivation, rule.reads));
  }
  return text;
}

}  // namespace

int explain(const Options& options) {
  const std::string& word = options.words[0];
  if (word.empty()) {
    write_stdout(reports::list_of_codes());
    return 0;
  }
  if (const reports::ScreenWord* const told = reports::screen_word(word)) {
    write_stdout(reports::paragraph(told->word, told->meaning).substr(1));
    return 0;
  }
  const auto code = code_named(word);
  if (!code) {
    throw Usage(
        fmt::format("explain: expected a code such as TT102 or partial-sum, or a word of the "
                    "screen, got '{}'{}",
                    word, did_you_mean(word, code_words())));
  }
  std::string text = reports::explained(*code);
  if (*code == Code::unmeasured_noise) text += rules_of_chance();
  write_stdout(text);
  return 0;
}

}  // namespace ttcheck::cli
