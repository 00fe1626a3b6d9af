#include "cli/explain.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/model/codes.hpp"
#include "reports/explain.hpp"

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

}  // namespace

int explain(const Options& options) {
  const std::string& word = options.words[0];
  if (word.empty()) {
    write_stdout(reports::list_of_codes());
    return 0;
  }
  const auto code = code_named(word);
  if (!code) {
    throw Usage(fmt::format("explain: expected a code such as TT102 or partial-sum, got '{}'{}",
                            word, did_you_mean(word, code_words())));
  }
  write_stdout(reports::explained(*code));
  return 0;
}

}  // namespace ttcheck::cli
