#include "reports/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ttcheck::reports {
namespace {

constexpr std::size_t kLongestWord = 1000;

std::string quoted(const std::string& word) {
  const auto is_safe = [](char letter) {
    constexpr std::string_view kPlain = "_@%+=:,./-";
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || kPlain.find(letter) != kPlain.npos;
  };
  const auto is_printable = [](char letter) {
    return letter >= ' ' && letter <= '~' && letter != '\'' && letter != '\\';
  };
  if (!word.empty() && std::ranges::all_of(word, is_safe)) return word;
  if (std::ranges::all_of(word, is_printable)) return fmt::format("'{}'", word);
  std::string text = "$'";
  for (const char letter : word) {
    text +=
        is_printable(letter)
            ? std::string(1, letter)
            : fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(letter)));
  }
  return text + "'";
}

}  // namespace

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (word.size() > kLongestWord) return "";
    line += line.empty() ? quoted(word) : " " + quoted(word);
  }
  return line;
}

}  // namespace ttcheck::reports
