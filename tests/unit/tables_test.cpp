// SPDX-License-Identifier: Apache-2.0
// The other half of each row of the four tables: a sample, a fuzz target, a golden case, a page.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "core/model/metric_rows.hpp"
#include "formats/open.hpp"
#include "reports/report.hpp"

namespace {

namespace fs = std::filesystem;

fs::path root() {
  const char* given = std::getenv("TTCHECK_SOURCE_DIR");
  return given != nullptr ? given : ".";
}

std::string text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The commands of all golden cases, one a line.
std::string golden_commands() {
  std::string all;
  for (const auto& entry : fs::directory_iterator(root() / "tests/golden")) {
    all += text(entry.path() / "command");
  }
  return all;
}

bool has(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

/// Names are unique words in lower case, summaries one line without a final stop.
template <class Rows>
void check_form(const Rows& rows) {
  std::set<std::string_view> seen;
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(seen.insert(row.name).second);
    CHECK(std::ranges::all_of(row.name, [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '-' || c == '_';
    }));
    CHECK_FALSE(row.summary.empty());
    CHECK_FALSE(has(row.summary, "\n"));
    CHECK_FALSE(row.summary.ends_with('.'));
  }
  CHECK_FALSE(seen.empty());
}

/// Formats of everything that lies in the folders of samples.
std::set<std::string> sampled_formats() {
  std::set<std::string> found;
  for (const char* folder : {"samples/small", "samples/checkpoint", "samples/trace",
                             "samples/huggingface", "samples/deepspeed", "samples/names"}) {
    for (const auto& entry : fs::directory_iterator(root() / folder)) {
      const auto run = ttcheck::formats::open(entry.path().string());
      INFO(entry.path().string());
      CHECK(run.has_value());
      if (run) found.insert(run->format);
    }
  }
  return found;
}

/// `name` as mdoc writes it.
std::string in_mdoc(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '-' ? std::string("\\-") : std::string(1, c);
  return text;
}

/// Lines `format: target target` of tests/fuzz/formats.
std::set<std::string> fuzz_targets_of(std::string_view format) {
  std::istringstream lines(text(root() / "tests/fuzz/formats"));
  std::set<std::string> targets;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(format) + ":")) continue;
    std::istringstream words(line.substr(format.size() + 1));
    for (std::string word; words >> word;) targets.insert(word);
  }
  return targets;
}

}  // namespace

TEST_CASE("rows of every table are well formed") {
  check_form(ttcheck::formats::formats());
  check_form(ttcheck::reports::reports());
  check_form(ttcheck::cli::commands());
  check_form(ttcheck::metric_rows());
  check_form(ttcheck::detail_rows());
}

TEST_CASE("every format has a sample, a fuzz target with a corpus, and a section in the manual") {
  const std::set<std::string> sampled = sampled_formats();
  const std::string manual = text(root() / "man/ttcheck-formats.5");
  for (const auto& format : ttcheck::formats::formats()) {
    INFO(format.name);
    CHECK(sampled.contains(std::string(format.name)));
    CHECK(has(manual, "\n.It Cm " + in_mdoc(format.name) + "\n"));
    const std::set<std::string> targets = fuzz_targets_of(format.name);
    CHECK_FALSE(targets.empty());
    for (const std::string& target : targets) {
      INFO(target);
      CHECK(fs::exists(root() / "tests/fuzz" / (target + ".cpp")));
      const fs::path corpus = root() / "tests/fuzz/corpus" / target;
      CHECK((fs::exists(corpus) && !fs::is_empty(corpus)));
    }
  }
}

TEST_CASE("every report has a golden case") {
  const std::string commands = golden_commands();
  for (const auto& report : ttcheck::reports::reports()) {
    INFO(report.name);
    if (report.name == "terminal") continue;  // what every case prints that asks for no other
    const bool shown = has(commands, "--out " + std::string(report.name) + "=") ||
                       (report.name == "json" && has(commands, "--json"));
    CHECK(shown);
  }
}

TEST_CASE("every command has a golden case and a manual page") {
  const std::string commands = golden_commands();
  for (const auto& command : ttcheck::cli::commands()) {
    if (command.hidden) continue;
    INFO(command.name);
    CHECK(has(commands, "ttcheck " + std::string(command.name)));
    CHECK(fs::exists(root() / ("man/ttcheck-" + std::string(command.name) + ".1")));
  }
}
