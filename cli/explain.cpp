#include "cli/explain.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/usage.hpp"

namespace ttcheck::cli {
namespace {

std::vector<std::string> code_words() {
  std::vector<std::string> words;
  for (const CodeInfo& row : codes()) {
    words.push_back(to_string(row.code));
    words.emplace_back(row.name);
  }
  return words;
}

constexpr std::string_view kReserved = " (reserved: nothing makes it yet)";

std::string list_of_codes() {
  std::string text;
  for (const CodeInfo& row : codes()) {
    text += fmt::format("{}  {:<22}{}{}\n", to_string(row.code), row.name, row.summary,
                        row.reserved ? kReserved : "");
  }
  return text;
}

/// `body` broken at blanks into lines of at most 80 columns, under a heading; nothing when empty.
std::string paragraph(std::string_view heading, std::string_view body) {
  constexpr std::size_t kColumns = 80;
  if (body.empty()) return "";
  std::string text = fmt::format("\n{}\n", heading);
  std::string line = " ";
  while (!body.empty()) {
    const std::size_t end = std::min(body.find(' '), body.size());
    if (line.size() + 1 + end > kColumns) {
      text += line + "\n";
      line = " ";
    }
    line += fmt::format(" {}", body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return text + line + "\n";
}

}  // namespace

int explain(const Options& options) {
  const std::string& word = options.words[0];
  if (word.empty()) {
    write_stdout(list_of_codes());
    return 0;
  }
  const auto code = code_named(word);
  if (!code) {
    throw Usage(fmt::format("explain: expected a code such as TT102 or partial-sum, got '{}'{}",
                            word, did_you_mean(word, code_words())));
  }
  const CodeInfo& row = info(*code);
  std::string text = fmt::format("{} {}: {}{}\n", to_string(*code), row.name, row.summary,
                                 row.reserved ? kReserved : "");
  if (const CodeText* more = explanation_of(*code)) {
    text += paragraph("What it says", more->what);
    text += paragraph("How it comes about", more->why);
    text += paragraph("A real case", more->incident);
    text += paragraph("How to confirm", more->confirm);
    text += paragraph("How to fix", more->fix);
  }
  write_stdout(text);
  return 0;
}

}  // namespace ttcheck::cli
