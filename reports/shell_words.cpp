// SPDX-License-Identifier: Apache-2.0
#include "reports/shell_words.hpp"

#include <algorithm>
#include <string_view>

#include "reports/escape.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kLongestWord = 1000;

/// A reader sees what it is, and so does each shell.
bool is_sayable(const std::string& word) {
  const auto is_printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  return !word.empty() && word.size() <= kLongestWord &&
         (std::ranges::all_of(word, is_printable) || terminal_text(word) == word);
}

std::string quoted(const std::string& word) {
  const auto is_safe = [](char letter) {
    constexpr std::string_view kPlain = "_@%+=:,./-";
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || kPlain.find(letter) != kPlain.npos;
  };
  if (std::ranges::all_of(word, is_safe)) return word;
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? R"('\'')" : std::string(1, letter);
  }
  return text + "'";
}

}  // namespace

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!is_sayable(word)) return "";
    line += line.empty() ? quoted(word) : " " + quoted(word);
  }
  return line;
}

}  // namespace ttcheck::reports
