// SPDX-License-Identifier: Apache-2.0
// A name is taken apart into numbers, which may have points inside, and the text between them.
// With `#` for each number it has a form, in which a `#` of the name's own is a `/`, which no name
// has: names of one form have their numbers in the same places. A number is a step only if it is
// whole and fits 64 bits.
// By words of time: a name has one time, the one whose word ranks highest (step, iteration,
// epoch, checkpoint), of equal ones the last. Only names whose word ranks as high as any in the
// directory are steps. By change: a form counts where exactly one number differs, from each of
// its names to each, and the word before it counts no places. Forms go together where each has
// only numbers that the one with most of them has too, and there are at most 16; else nothing is
// a step. Parts are told apart by the text beside the number, then by their endings.
// Files that promise no arrays, .npy files and files of ranks or shards are no steps in these two
// ways; `x-v1` beside `x` is none in any.

#include "formats/folder/series_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"
#include "formats/folder/rank_name.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/folder/unopened.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kBetween = "=-_. ";  ///< stands between a word and its number
constexpr std::string_view kAgain = "-v";       ///< Lightning's second file of one name: `-v1`
constexpr std::size_t kMostParts = 16;          ///< of a step that only a changing number tells
constexpr std::string_view kTar = ".tar";       ///< of `.pth.tar`, which is no archive of files

/// Words of time; where a name has several, the one of the highest rank counts.
constexpr auto kTimes = std::to_array<std::pair<std::string_view, int>>({{"step", 4},
                                                                         {"steps", 4},
                                                                         {"iter", 3},
                                                                         {"iters", 3},
                                                                         {"iteration", 3},
                                                                         {"iterations", 3},
                                                                         {"epoch", 2},
                                                                         {"epochs", 2},
                                                                         {"checkpoint", 1},
                                                                         {"ckpt", 1}});

/// Words whose numbers count what lies side by side: parts of a model, of a machine, of the data,
/// and runs.
constexpr auto kPlaces = std::to_array<std::string_view>(
    {"rank",    "layer",        "layers", "block",   "part",   "shard",  "chunk",
     "split",   "expert",       "head",   "stage",   "group",  "module", "param",
     "tensor",  "consolidated", "fsdp",   "tp",      "pp",     "dp",     "mp",
     "cp",      "device",       "gpu",    "process", "worker", "node",   "job",
     "task",    "microbatch",   "mb",     "batch",   "sample", "input",  "output",
     "arg",     "act",          "grad",   "run",     "exp",    "seed",   "fold",
     "version", "experiment",   "trial",  "replica", "state",  "states", "of"});

/// Digits, or what stands between them.
struct Token {
  std::string text;
  bool number = false;
  std::optional<std::int64_t> whole;  ///< of a number without a point that fits
};

struct Name {
  std::string path;
  std::string ending;  ///< of a file; `/` of a directory
  std::string form;    ///< with `#` for each number; those of one form differ in numbers alone
  std::vector<Token> tokens;
};

std::optional<std::int64_t> whole_of(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value)
                                                                      : std::nullopt;
}

std::vector<Token> tokens_of(std::string_view stem) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < stem.size();) {
    std::size_t end = at;
    const bool number = is_digit(stem[at]);
    while (end < stem.size()) {
      const bool point =
          number && stem[end] == '.' && end + 1 < stem.size() && is_digit(stem[end + 1]);
      if (is_digit(stem[end]) != number && !point) break;
      ++end;
    }
    const std::string_view text = stem.substr(at, end - at);
    tokens.push_back({std::string(text), number, number ? whole_of(text) : std::nullopt});
    at = end;
  }
  return tokens;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBetween);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBetween) + 1 - first);
}

/// The letters that end a text, apart from what stands between a word and its number.
std::string_view last_word(std::string_view text) {
  text = trimmed(text);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string lowered(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string word_before(const std::vector<Token>& tokens, std::size_t at) {
  return at == 0 ? std::string() : lowered(last_word(tokens[at - 1].text));
}

/// 0: no word of time.
int rank_of_time(std::string_view word) {
  for (const auto& [time, rank] : kTimes) {
    if (word == time) return rank;
  }
  return 0;
}

/// A name that may be a step's: a directory's, or one that promises arrays. A folder of .npy files
/// is one state.
std::optional<Name> parse(std::string_view path, bool directory) {
  std::string_view stem = path;
  if (stem.ends_with(kTar)) stem.remove_suffix(kTar.size());
  if (!directory && (!promises_arrays(stem) || stem.ends_with(".npy"))) return std::nullopt;
  if (path.starts_with('.') || rank_file_name(path) || parse_shard_name(path)) return std::nullopt;
  const std::string bare = directory ? std::string(path) : stem_of(stem);
  Name name{std::string(path),
            directory ? "/" : std::string(path.substr(bare.size())),
            {},
            tokens_of(bare)};
  for (const Token& token : name.tokens) {
    std::string text = token.number ? "#" : token.text;
    if (!token.number) std::ranges::replace(text, '#', '/');
    name.form += text;
  }
  name.form += name.ending;
  return name;
}

/// A number behind a word of time.
struct Timed {
  int rank = 0;  ///< of the word
  std::size_t at = 0;
};

std::optional<Timed> timed(const Name& name) {
  std::optional<Timed> found;
  for (std::size_t i = 0; i < name.tokens.size(); ++i) {
    if (!name.tokens[i].whole) continue;
    const int rank = rank_of_time(word_before(name.tokens, i));
    if (rank > 0 && (!found || found->rank <= rank)) found = {rank, i};
  }
  return found;
}

/// What a name says beside the number at `at` and its word of time.
std::string part_of(const Name& name, std::size_t at) {
  std::string part;
  for (std::size_t i = 0; i < name.tokens.size(); ++i) {
    if (name.tokens[i].number) continue;
    std::string_view text = name.tokens[i].text;
    if (i + 1 == at) {
      const std::string_view word = last_word(text);
      if (rank_of_time(lowered(word)) > 0) text = text.substr(0, text.rfind(word));
    }
    text = trimmed(text);
    if (text.empty()) continue;
    if (!part.empty()) part += '_';
    part += text;
  }
  return part;
}

/// A step's number in a name.
struct Placed {
  const Name* name = nullptr;
  std::size_t at = 0;
};

/// Names of one form have no parts; those of several are told apart by what they say beside the
/// number, and by their endings where they say the same.
void add(const std::vector<Placed>& placed, SeriesNames& found) {
  std::set<std::string_view> forms;
  std::map<std::string, std::set<std::string_view>> of_part;
  for (const auto& [name, at] : placed) {
    forms.insert(name->form);
    of_part[part_of(*name, at)].insert(name->form);
  }
  for (const auto& [name, at] : placed) {
    std::string part = forms.size() > 1 ? part_of(*name, at) : std::string();
    if (forms.size() > 1 && of_part[part].size() > 1) {
      const std::string_view ending = name->ending == "/" ? "" : trimmed(name->ending);
      if (!part.empty() && !ending.empty()) part += '_';
      part += ending;
    }
    found.steps[*name->tokens[at].whole].push_back({name->path, std::move(part)});
  }
}

void add_timed(const std::vector<Name>& names, SeriesNames& found) {
  int highest = 1;
  for (const Name& name : names) {
    if (const auto time = timed(name)) highest = std::max(highest, time->rank);
  }
  std::vector<Placed> placed;
  for (const Name& name : names) {
    const auto time = timed(name);
    if (time && time->rank == highest) placed.push_back({&name, time->at});
  }
  add(placed, found);
}

/// The only number that changes among names of one form; none where it counts places.
std::optional<std::size_t> changing(const std::vector<const Name*>& alike) {
  std::optional<std::size_t> found;
  const std::vector<Token>& first = alike.front()->tokens;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::set<std::optional<std::int64_t>> values;
    for (const Name* name : alike) values.insert(name->tokens[i].whole);
    if (values.size() < 2) continue;
    if (found || values.size() < alike.size() || values.contains(std::nullopt)) return std::nullopt;
    found = i;
  }
  if (!found || std::ranges::find(kPlaces, word_before(first, *found)) != kPlaces.end()) {
    return std::nullopt;
  }
  return found;
}

/// The place of the only number in a name.
std::optional<std::size_t> only_number(const Name& name) {
  const auto first = std::ranges::find_if(name.tokens, &Token::number);
  if (std::ranges::count_if(name.tokens, &Token::number) != 1 || !first->whole) return std::nullopt;
  return static_cast<std::size_t>(first - name.tokens.begin());
}

/// Names of several forms are parts of one step where no form has a number that the one with most
/// of them does not have.
void add_changing(const std::vector<Name>& names, SeriesNames& found) {
  std::map<std::string_view, std::vector<const Name*>> forms;
  for (const Name& name : names) forms[name.form].push_back(&name);
  std::vector<Placed> placed;
  std::vector<std::set<std::int64_t>> numbers;
  for (const auto& [form, alike] : forms) {
    const auto at = alike.size() < 2 ? std::nullopt : changing(alike);
    if (!at) continue;
    std::set<std::int64_t>& here = numbers.emplace_back();
    for (const Name* name : alike) {
      here.insert(*name->tokens[*at].whole);
      placed.push_back({name, *at});
    }
  }
  if (placed.empty() || numbers.size() > kMostParts) return;
  const auto& most = *std::ranges::max_element(numbers, {}, &std::set<std::int64_t>::size);
  const bool together = std::ranges::all_of(
      numbers, [&](const auto& here) { return std::ranges::includes(most, here); });
  if (!together) return;
  found.by_change = true;
  if (numbers.size() == 1 && only_number(*placed.front().name))
    found.form = placed.front().name->form;
  add(placed, found);
}

/// `x-v1.ckpt` beside `x.ckpt`: what Lightning calls the second file of one name.
bool is_again(const Entry& entry, const NameViewSet& paths) {
  const std::string stem = entry.kind == EntryKind::file ? stem_of(entry.path) : entry.path;
  const std::size_t at = stem.rfind(kAgain);
  if (at == std::string::npos || !is_number(std::string_view(stem).substr(at + kAgain.size()))) {
    return false;
  }
  const std::string first = stem.substr(0, at) + entry.path.substr(stem.size());
  return paths.contains(first);
}

}  // namespace

SeriesNames series_names(const std::vector<Entry>& entries) {
  SeriesNames found;
  std::vector<Name> others;
  NameViewSet paths;
  for (const Entry& entry : entries) paths.insert(entry.path);
  for (const Entry& entry : entries) {
    const bool directory = entry.kind == EntryKind::directory;
    if (entry.kind == EntryKind::other || is_again(entry, paths)) continue;
    if (!directory && !may_belong(entry.path)) continue;
    if (const auto step = step_of_name(entry.path, directory)) {
      found.steps[*step].push_back({entry.path, {}});
    } else if (auto name = parse(entry.path, directory)) {
      others.push_back(std::move(*name));
    }
  }
  if (found.steps.empty()) add_timed(others, found);
  if (found.steps.empty()) add_changing(others, found);
  for (const auto& [step, held] : found.steps) {
    for (const StepEntry& entry : held) found.paths.insert(entry.path);
  }
  return found;
}

std::optional<std::int64_t> step_stated_by(std::string_view name, bool directory) {
  if (is_number(name)) return std::nullopt;
  if (const auto step = step_of_name(name, directory)) return step;
  const auto parsed = parse(name, directory);
  const auto time = parsed ? timed(*parsed) : std::nullopt;
  return time ? parsed->tokens[time->at].whole : std::nullopt;
}

std::optional<std::pair<std::string, std::int64_t>> step_in_form(std::string_view name,
                                                                 bool directory) {
  const auto parsed = parse(name, directory);
  const auto at = parsed ? only_number(*parsed) : std::nullopt;
  if (!at) return std::nullopt;
  return std::pair(parsed->form, *parsed->tokens[*at].whole);
}

}  // namespace ttcheck::formats
