// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/usage.hpp"
#include "core/model/codes.hpp"
#include "reports/explain.hpp"

namespace ttcheck::cli {
namespace {

/// What every table promises: unique lower-case names, summaries of one short line without a stop.
template <class Rows>
void check_rows(const Rows& rows) {
  std::set<std::string> names;
  for (const auto& row : rows) {
    const std::string name(row.name), summary(row.summary);
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(std::ranges::none_of(name, [](unsigned char c) { return std::isupper(c) || c == ' '; }));
    CHECK(!summary.empty());
    CHECK(summary.size() <= 130);
    CHECK(summary.find('\n') == summary.npos);
    CHECK(summary.back() != '.');
  }
}

TEST_CASE("tables keep their promises") {
  check_rows(commands());
  check_rows(flags());
  check_rows(codes());
  check_rows(reports::reports());
}

TEST_CASE("completions name every command and every long flag") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    CAPTURE(shell);
    const std::string text = completion_for(shell);
    for (const Command& command : commands()) {
      if (!command.hidden) CHECK(text.find(command.name) != text.npos);
    }
    for (const Flag& flag : flags()) {
      CHECK(text.find(flag.name.substr(flag.name.starts_with("--") ? 2 : 1)) != text.npos);
    }
  }
  CHECK_THROWS_WITH_AS(completion_for("fsh"),
                       "completion: expected bash, zsh or fish, got 'fsh'; did you mean 'zsh'?",
                       Usage);
}

TEST_CASE("codes that are made have a text") {  // tests/tree/explained finds those that are
  for (const Code code : {Code::replica_mismatch, Code::tie_mismatch,    Code::scale,
                          Code::permutation,      Code::layer_mapping,   Code::padding,
                          Code::master_mismatch,  Code::missing,         Code::unexpected,
                          Code::shape_or_dtype,   Code::config,          Code::data_replay,
                          Code::unreadable,       Code::checksum,        Code::torn,
                          Code::overlap,          Code::omission,        Code::mixed_step,
                          Code::missing_rank,     Code::unsafe_pickle,   Code::diverged,
                          Code::non_finite,       Code::unmeasured_noise}) {
    const reports::CodeText* text = reports::explanation_of(code);
    REQUIRE(text != nullptr);
    CHECK(!text->what.empty());
    CHECK(!text->fix.empty());
  }
}

TEST_CASE("a word that is nearly right leads to the right one") {
  CHECK(nearest("dif", {"info", "diff"}) == "diff");
  CHECK(nearest("--jsno", {"--json", "--top"}) == "--json");
  CHECK(nearest("zebra", {"info", "diff"}) == "");
}

}  // namespace
}  // namespace ttcheck::cli
