// SPDX-License-Identifier: Apache-2.0
#include "tests/robust/damage.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include "cli/answer.hpp"
#include "cli/diff_options.hpp"
#include "cli/open.hpp"
#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/diff/diff.hpp"

namespace ttcheck::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWindow = 8;

void write_whole(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void copy_files(const fs::path& from, const std::vector<std::string>& files, const fs::path& to) {
  for (const std::string& file : files) {
    fs::create_directories((to / file).parent_path());
    fs::copy_file(from / file, to / file);
  }
}

/// The run with all its steps at hand, so that comparing it again parses nothing.
Run opened_once(Run run) {
  std::vector<State> states;
  for (std::size_t i = 0; i < run.steps.size(); ++i) states.push_back(run.open(i));
  run.open = [states](std::size_t i) { return states.at(i); };
  return run;
}

void add(Answer& answer, const std::optional<Where>& where) {
  if (!where) return;
  answer.words.push_back(to_string(*where));
  answer.has_offset = answer.has_offset || where->offset.has_value();
}

}  // namespace

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

DamagedCopy::DamagedCopy(const fs::path& sample, const std::string& file, const fs::path& reference,
                         const std::vector<std::string>& beside) {
  std::string name = (fs::temp_directory_path() / "ttcheck-robust-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
  copy_ = folder_ / sample.filename();
  fs::path against = reference;
  if (beside.empty()) {
    fs::copy(sample, copy_, fs::copy_options::recursive);
  } else {
    against = folder_ / "reference";
    std::vector<std::string> files = beside;
    files.push_back(file);
    copy_files(sample, files, copy_);
    copy_files(sample, files, against);
  }
  file_ = file.empty() ? copy_ : copy_ / file;
  original_ = read_whole(file_);

  options_.command = "diff";
  options_.words = {against.string(), copy_.string()};
  options_.threads = 1;  // thousands of runs, of a few values each
  set_threads(options_.threads);
  reference_ = opened_once(cli::open_side(against.string(), cli::Side::reference, options_));
}

DamagedCopy::~DamagedCopy() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Answer DamagedCopy::with(const std::string& content) const {
  write_whole(file_, content);
  Answer answer;
  try {
    const Run candidate = cli::open_side(copy_.string(), cli::Side::candidate, options_);
    const Verdict verdict = diff::diff(reference_, candidate, cli::diff_options(options_));
    answer.exit = cli::exit_code(verdict, options_.fail_on);
    answer.verdict = verdict.outcome ? std::string(name(*verdict.outcome)) : "none";
    for (const Finding& finding : verdict.findings) {
      add(answer, finding.where);
      add(answer, finding.reference_where);
      answer.words.push_back(finding.message);
    }
  } catch (const Error& error) {
    answer.exit = 2;
    answer.verdict = "error";
    add(answer, error.where());
    answer.words.emplace_back(error.what());
  }
  return answer;
}

std::vector<bool> payload_of(const std::string& content, const std::vector<std::string>& values) {
  std::unordered_set<std::string_view> windows;
  for (const std::string_view known : values) {
    for (std::size_t i = 0; i + kWindow <= known.size(); ++i) {
      const std::string_view window = known.substr(i, kWindow);
      if (std::set<char>(window.begin(), window.end()).size() > kWindow / 2) windows.insert(window);
    }
  }
  std::vector<bool> payload(content.size());
  for (std::size_t i = 0; i + kWindow <= content.size(); ++i) {
    if (!windows.contains(std::string_view(content).substr(i, kWindow))) continue;
    for (std::size_t k = 0; k < kWindow; ++k) payload[i + k] = true;
  }
  return payload;
}

}  // namespace ttcheck::tests
