// SPDX-License-Identifier: Apache-2.0
// The pattern is compiled to a graph of tokens. Matching is a depth-first search over (token,
// position) pairs with an explicit stack; each pair is visited once at most, so time and memory
// grow with tokens x length, up to a limit. The first path that reaches the end gives the captures;
// wildcards take as little as they can, captures as much.

#include "core/base/glob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/error.hpp"

namespace ttcheck {
namespace {

bool is_word(std::string_view text) {
  if (text.empty() || is_digit(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

[[noreturn]] void fail(std::string_view pattern, std::size_t at, std::string_view what) {
  throw Error(fmt::format("glob {}: {}, column {}", pattern, what, at + 1));
}

}  // namespace

class Glob::Compiler {
 public:
  Compiler(Glob& glob, std::string_view pattern) : glob_(glob), pattern_(pattern) {}

  void run() {
    glob_.start_ = add(Step::split);
    ends_ = {glob_.start_};
    while (at_ < pattern_.size()) one();
    if (!open_.empty()) fail(pattern_, open_.back().column, "the brace is not closed");
    link(add(Step::end));
  }

 private:
  /// An alternative list that is being read.
  struct Open {
    std::size_t column;
    std::size_t entry;              ///< the split in front of the alternatives
    std::vector<std::size_t> ends;  ///< last tokens of finished alternatives
  };

  std::size_t add(Step step, std::string text = {}) {
    glob_.tokens_.push_back({step, std::move(text), {}});
    return glob_.tokens_.size() - 1;
  }

  /// Makes `token` follow all loose ends.
  void link(std::size_t token) {
    for (const std::size_t end : ends_) glob_.tokens_[end].next.push_back(token);
    ends_ = {token};
  }

  void one() {
    const char c = pattern_[at_];
    if (c == '\\') {
      if (at_ + 1 == pattern_.size()) fail(pattern_, at_, "nothing follows the backslash");
      literal(pattern_[at_ + 1]);
      at_ += 2;
    } else if (c == '*') {
      wildcard();
    } else if (c == '{') {
      brace();
    } else if (c == ',' && !open_.empty()) {
      Open& list = open_.back();
      list.ends.insert(list.ends.end(), ends_.begin(), ends_.end());
      ends_ = {list.entry};
      next_alternative();
      ++at_;
    } else if (c == '}' && !open_.empty()) {
      ends_.insert(ends_.end(), open_.back().ends.begin(), open_.back().ends.end());
      open_.pop_back();
      link(add(Step::split));
      ++at_;
    } else {
      literal(c);
      ++at_;
    }
  }

  void literal(char c) {
    Token& last = glob_.tokens_.back();
    if (last.step == Step::text) {
      last.text += c;
    } else {
      link(add(Step::text, std::string(1, c)));
    }
  }

  void wildcard() {
    const std::size_t begin = at_;
    const bool crosses = pattern_.substr(at_, 2) == "**";
    at_ += crosses ? 2 : 1;
    if (!crosses) return link(add(Step::star));
    const bool fresh = begin == 0 || pattern_[begin - 1] == glob_.separator_;
    const bool dotted = fresh && at_ < pattern_.size() && pattern_[at_] == glob_.separator_;
    link(add(Step::star_star));
    if (!dotted) return;
    const std::size_t star = ends_.front();
    const std::size_t dot = add(Step::text, std::string(1, glob_.separator_));
    glob_.tokens_[star].next.push_back(dot);
    glob_.tokens_[star].text = glob_.separator_;  // may be left out together with its separator
    ends_ = {dot};
    const std::size_t after = add(Step::split);
    glob_.tokens_[dot].next.push_back(after);
    glob_.tokens_[star].next.push_back(after);
    ends_ = {after};
    ++at_;
  }

  void brace() {
    const std::size_t close = pattern_.find_first_of(",{}\\", at_ + 1);
    if (close == std::string_view::npos) fail(pattern_, at_, "the brace is not closed");
    if (pattern_[close] == '}') {
      const std::string_view name = pattern_.substr(at_ + 1, close - at_ - 1);
      if (!is_word(name)) fail(pattern_, at_, "expected {name} or {a,b}");
      for (const Token& token : glob_.tokens_) {
        if (token.step == Step::capture && token.text == name) {
          fail(pattern_, at_, "the capture is there twice");
        }
      }
      link(add(Step::capture, std::string(name)));
      at_ = close + 1;
      return;
    }
    const std::size_t entry = add(Step::split);
    link(entry);
    open_.push_back({at_, entry, {}});
    next_alternative();
    ++at_;
  }

  /// Each alternative starts with a token of its own, so that an empty one is one, too.
  void next_alternative() { link(add(Step::split)); }

  Glob& glob_;
  std::string_view pattern_;
  std::size_t at_ = 0;
  std::vector<std::size_t> ends_;
  std::vector<Open> open_;
};

class Glob::Search {
 public:
  Search(const Glob& glob, std::string_view name)
      : glob_(glob), name_(name), seen_(glob.tokens_.size() * (name.size() + 1)) {}

  std::optional<GlobMatch> run() {
    push(glob_.start_, 0, kRoot);
    while (!stack_.empty()) {
      const std::size_t here = stack_.back();
      stack_.pop_back();
      const auto [token, at, parent] = visits_[here];
      if (glob_.tokens_[token].step == Step::end) {
        if (at == name_.size()) return found(here);
        continue;
      }
      step(here);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kRoot = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMostVisits = 1 << 20;
  struct Visit {
    std::size_t token, at, parent;
  };

  void push(std::size_t token, std::size_t at, std::size_t parent) {
    const std::size_t pair = token * (name_.size() + 1) + at;
    if (seen_[pair]) return;
    if (visits_.size() == kMostVisits) {
      throw Error(
          fmt::format("limit reached: a glob and a name of {} characters have more than {} "
                      "ways to meet",
                      name_.size(), kMostVisits));
    }
    seen_[pair] = true;
    visits_.push_back({token, at, parent});
    stack_.push_back(visits_.size() - 1);
  }

  /// Goes on behind the token, at `at`; the preferred follower is looked at first.
  void leave(std::size_t here, std::size_t at) {
    const auto& next = glob_.tokens_[visits_[here].token].next;
    for (auto token = next.rbegin(); token != next.rend(); ++token) push(*token, at, here);
  }

  void step(std::size_t here) {
    const auto [index, at, parent] = visits_[here];
    const Token& token = glob_.tokens_[index];
    switch (token.step) {
      case Step::text:
        if (name_.substr(at, token.text.size()) == token.text) leave(here, at + token.text.size());
        break;
      case Step::star:
      case Step::star_star:
        star(here);
        break;
      case Step::capture: {
        std::size_t end = at;
        while (end < name_.size() && is_digit(name_[end])) leave(here, ++end);
        break;
      }
      case Step::split:
        leave(here, at);
        break;
      case Step::end:
        break;
    }
  }

  void star(std::size_t here) {
    const auto [index, at, parent] = visits_[here];
    const Token& token = glob_.tokens_[index];
    const bool crosses = token.step == Step::star_star;
    if (at < name_.size() && (crosses || name_[at] != glob_.separator_)) push(index, at + 1, here);
    if (token.text.empty()) return leave(here, at);
    const bool fresh = parent == kRoot || visits_[parent].token != index;
    if (fresh) push(token.next[1], at, here);  // neither wildcard nor separator
    push(token.next[0], at, here);
  }

  /// Captures along the path that ends at visit `last`.
  std::optional<GlobMatch> found(std::size_t last) const {
    std::vector<std::size_t> path;
    for (std::size_t i = last; i != kRoot; i = visits_[i].parent) path.push_back(i);
    std::reverse(path.begin(), path.end());
    GlobMatch match;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      const Visit& visit = visits_[path[i]];
      const Token& token = glob_.tokens_[visit.token];
      if (token.step == Step::capture) {
        const std::size_t end = visits_[path[i + 1]].at;
        std::int64_t value = 0;
        const auto [stop, code] =
            std::from_chars(name_.data() + visit.at, name_.data() + end, value);
        if (code != std::errc() || stop != name_.data() + end) return std::nullopt;
        match.captures.emplace(token.text, value);
      } else if (token.step == Step::star || token.step == Step::star_star) {
        std::size_t j = i;
        while (visits_[path[j]].token == visit.token) ++j;
        match.wildcards.emplace_back(name_.substr(visit.at, visits_[path[j]].at - visit.at));
        i = j - 1;
      }
    }
    return match;
  }

  const Glob& glob_;
  std::string_view name_;
  std::vector<bool> seen_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> stack_;
};

Glob::Glob(std::string_view pattern, char separator) : separator_(separator) {
  Compiler(*this, pattern).run();
}

std::size_t Glob::wildcard_count() const {
  return static_cast<std::size_t>(
      std::count_if(tokens_.begin(), tokens_.end(), [](const Token& token) {
        return token.step == Step::star || token.step == Step::star_star;
      }));
}

std::optional<GlobMatch> Glob::match(std::string_view name) const {
  return Search(*this, name).run();
}

std::string literal_glob(std::string_view name) {
  std::string glob;
  for (const char c : name) {
    if (std::string_view("*{}\\").find(c) != std::string_view::npos) glob += '\\';
    glob += c;
  }
  return glob;
}

std::optional<std::string> literal_of(std::string_view glob) {
  std::string name;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '*' || glob[i] == '{' || glob[i] == '}') return std::nullopt;
    if (glob[i] == '\\' && ++i == glob.size()) return std::nullopt;
    name += glob[i];
  }
  return name;
}

}  // namespace ttcheck
