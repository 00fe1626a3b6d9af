// SPDX-License-Identifier: Apache-2.0
#include "core/model/codes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/support/project_file.hpp"

namespace ttcheck {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Enumerators that the program's sources name, beside where all of them stand.
std::set<std::string> named_in_sources() {
  const std::regex code(R"(\bCode::(\w+))");
  std::set<std::string> named;
  for (const char* const room : {"core", "formats", "reports", "cli"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(tests::project_file(room))) {
      const std::string file = entry.path().filename().string();
      if (!file.ends_with("pp") || file == "codes.cpp" || file == "explain_texts.cpp") continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at) {
        named.insert((*at)[1]);
      }
    }
  }
  return named;
}

TEST_CASE("a code is reserved until something makes it") {
  const std::string header = text_of(tests::project_file("core/model/codes.hpp"));
  const std::regex enumerator(R"((\w+) = (\d+),)");
  std::map<int, std::string> enumerators;
  for (std::sregex_iterator at(header.begin(), header.end(), enumerator), end; at != end; ++at) {
    enumerators[std::stoi((*at)[2])] = (*at)[1];
  }
  CHECK(enumerators.size() == codes().size());
  const std::set<std::string> named = named_in_sources();
  CHECK(named.contains("diverged"));
  for (const CodeInfo& row : codes()) {
    INFO(std::string(row.name));
    CHECK(row.reserved == !named.contains(enumerators[static_cast<int>(row.code)]));
  }
}

TEST_CASE("a code is found by its number, with or without its letters, and by its name") {
  for (const CodeInfo& row : codes()) {
    const std::string number = std::to_string(static_cast<int>(row.code));
    CHECK(to_string(row.code) == "TT" + number);
    CHECK(info(row.code).name == row.name);
    for (const std::string& word : {"TT" + number, "tt" + number, number, std::string(row.name)}) {
      CHECK(code_named(word) == row.code);
    }
  }
  for (const char* const word : {"", "TT", "TT0", "601 ", "TTdiverged", "Tt601", "divergd"}) {
    INFO(word);
    CHECK_FALSE(code_named(word));
  }
}

}  // namespace
}  // namespace ttcheck
