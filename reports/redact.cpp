// SPDX-License-Identifier: Apache-2.0
#include "reports/redact.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ttcheck::reports {
namespace {

constexpr std::string_view kPath = "PATH";
constexpr std::string_view kLeftOut = "(left out)";

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// What ends a path within a sentence.
bool ends_path(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0 || letter == '\'' || letter == '"' ||
         letter == ';' || letter == ',' || letter == ')' || letter == '`';
}

/// `secret` wherever it stands as a word, or, of a path, wherever one begins with it.
std::string without(std::string_view text, std::string_view secret, std::string_view instead) {
  std::string kept;
  while (!secret.empty()) {
    const std::size_t at = text.find(secret);
    if (at == std::string_view::npos) break;
    const std::size_t end = at + secret.size();
    const bool whole = (at == 0 || !is_word(text[at - 1]) || !is_word(secret.front())) &&
                       (end == text.size() || !is_word(text[end]) || !is_word(secret.back()));
    kept += text.substr(0, at);
    kept += whole ? instead : secret;
    text.remove_prefix(end);
  }
  return kept += text;
}

/// Absolute paths, and those from a home.
std::string without_paths(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || ends_path(text[i - 1]) || text[i - 1] == '=' ||
                        text[i - 1] == '(' || text[i - 1] == ':';
    const std::string_view rest = text.substr(i);
    const bool path = begins && (rest.starts_with("~/") || rest.starts_with("../") ||
                                 (rest.starts_with('/') && rest.size() > 1 && !ends_path(rest[1])));
    if (!path) {
      kept += text[i++];
      continue;
    }
    kept += kPath;
    while (i < text.size() && !ends_path(text[i])) ++i;
  }
  return kept;
}

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

class Redaction {
 public:
  Redaction(const Verdict& verdict, std::span<const Secret> secrets) {
    const auto add = [&](const std::string& path, std::string_view instead) {
      if (!path.empty()) secrets_.emplace_back(path, instead);
    };
    if (verdict.reference) add(verdict.reference->path, "REFERENCE");
    if (verdict.candidate) add(verdict.candidate->path, "CANDIDATE");
    if (verdict.relation) add(verdict.relation->base, "BASE");
    for (const Secret& one : secrets) secrets_.push_back(one);
    std::ranges::stable_sort(secrets_, std::ranges::greater(),
                             [](const Secret& one) { return one.first.size(); });
  }

  std::string operator()(std::string_view text) const {
    std::string kept(text);
    for (const auto& [secret, instead] : secrets_) kept = without(kept, secret, instead);
    return without_paths(kept);
  }

  /// Of a file the run that it is in and its own name.
  void hide(std::optional<Where>& where) const {
    if (!where) return;
    const std::string kept = (*this)(where->file);
    const std::string_view run(kept.data(), std::min(kept.find('/'), kept.size()));
    const bool known = run == "REFERENCE" || run == "CANDIDATE" || run == "BASE";
    const bool inside = known && run.size() < kept.size();
    where->file = !known    ? std::string(kPath)
                  : !inside ? kept
                            : std::string(run) + "/" + std::string(last_part(kept));
    where->object = (*this)(where->object);
  }

 private:
  std::vector<Secret> secrets_;  ///< the longest first: one may be in another
};

/// Settings are told by name alone.
std::string setting_words(const Finding& finding, const std::string& kept) {
  const bool setting = finding.code == Code::config || finding.code == Code::step_counter;
  return setting ? kept.substr(0, kept.find(' ')) + " is not the same on both sides" : kept;
}

void hide(Finding& finding, const Redaction& redact) {
  const std::size_t size = finding.message.size();
  const std::size_t aside = std::min(finding.aside, size), why = std::min(finding.why, aside);
  const std::string head = redact(finding.message.substr(0, why));
  const std::string cause = redact(finding.message.substr(why, aside - why));
  const std::string rest = redact(finding.message.substr(aside));
  finding.message = setting_words(finding, head + cause + rest);
  finding.why = finding.why == 0 ? 0 : head.size();
  if (finding.aside < size) finding.aside = head.size() + cause.size();
  finding.limit_source = redact(finding.limit_source);
  redact.hide(finding.where);
  redact.hide(finding.reference_where);
  finding.next.clear();
  for (Hypothesis& one : finding.hypotheses) {
    if (one.name == "offset") one.parameters.clear();  // in units of the values
  }
}

void hide(TensorResult& result, const Redaction& redact) {
  result.values.reset();
  result.sentinel.reset();
  result.rule = redact(result.rule);
  result.limit.source = redact(result.limit.source);
  result.limit.group = redact(result.limit.group);
  if (!result.places) return;
  Places places = *result.places;
  redact.hide(places.reference);
  redact.hide(places.candidate);
  result.places = std::make_shared<const Places>(places);
}

void hide(FactResult& fact) {
  if (fact.reference) fact.reference = std::string(kLeftOut);
  if (fact.candidate) fact.candidate = std::string(kLeftOut);
}

void hide(std::map<std::string, std::int64_t>& counts, const Redaction& redact) {
  std::map<std::string, std::int64_t> kept;
  for (const auto& [words, count] : counts) kept[redact(words)] += count;
  counts = std::move(kept);
}

/// What was typed: flags by name, the runs by what they are.
void hide_words(std::vector<std::string>& argv, const Redaction& redact) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    std::string& word = argv[i];
    const std::string kept = redact(word);
    const std::size_t value = word.find('=');
    if (word.starts_with('-')) {
      if (value != std::string::npos) word = word.substr(0, value + 1) + std::string(kPath);
    } else if (kept != "REFERENCE" && kept != "CANDIDATE" && kept != "BASE") {
      word = kPath;
    } else {
      word = kept;
    }
  }
}

}  // namespace

Verdict redacted(Verdict verdict, std::span<const Secret> secrets) {
  const Redaction redact(verdict, secrets);
  hide_words(verdict.argv, redact);
  for (Finding& one : verdict.findings) hide(one, redact);
  for (TensorResult& one : verdict.tensors) hide(one, redact);
  for (FactResult& one : verdict.facts) hide(one);
  for (KnownTold& one : verdict.known) one.reason = redact(one.reason);
  hide(verdict.tally.limits, redact);
  hide(verdict.tally.rules, redact);
  for (Rename& one : verdict.renames) one.rule = redact(one.rule);
  verdict.profile.reset();
  if (verdict.relation) {
    verdict.relation->evidence = redact(verdict.relation->evidence);
    if (!verdict.relation->base.empty()) verdict.relation->base = "BASE";
  }
  if (verdict.search) {
    for (std::string& line : verdict.search->log) line = redact(line);
  }
  if (verdict.calibration) {
    for (std::string& run : verdict.calibration->runs) run = kPath;
    for (std::string& words : verdict.calibration->perturbations) words = redact(words);
    if (!verdict.calibration->file.empty()) verdict.calibration->file = kPath;
  }
  if (verdict.reference) verdict.reference->path = "REFERENCE";
  if (verdict.candidate) verdict.candidate->path = "CANDIDATE";
  return verdict;
}

}  // namespace ttcheck::reports
