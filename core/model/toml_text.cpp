// SPDX-License-Identifier: Apache-2.0
#include "core/model/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ttcheck {
namespace {

constexpr std::size_t kMostDots = 256;
constexpr std::size_t kFence = 3;  // quotes around a string of several lines

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

class TomlScan {
 public:
  explicit TomlScan(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::optional<TomlFault> fault() {
    while (at_ < text_.size() && !fault_) {
      const char c = text_[at_];
      if (c == '\n') {
        end_line();
      } else if (where_ == Part::plain) {
        plain(c);
      } else if (where_ != Part::comment) {
        string(c);
      }
      ++at_;
    }
    return std::move(fault_);
  }

 private:
  enum class Part : std::uint8_t { plain, comment, string };

  void fail(std::string what) { fault_ = {line_, at_ - line_begin_ + 1, std::move(what)}; }

  void end_line() {
    ++line_;
    line_begin_ = at_ + 1;
    dots_ = 0;
    if (where_ == Part::string && several_lines_) {
      trimmed_ = trimmed_ || escaped_;
      escaped_ = false;
    } else {
      where_ = Part::plain;  // of a string that is not closed: toml++ says so
      value_ = !open_.empty() && open_.back() == '[';
    }
  }

  void plain(char c) {
    if (is_beyond_ascii(c)) return fail("a character beyond ASCII outside of quotes and comments");
    switch (c) {
      case '"':
      case '\'':
        return open(c);
      case '#':
        where_ = Part::comment;
        return;
      case '.':
        if (++dots_ > kMostDots) fail(fmt::format("a key of more than {} parts", kMostDots));
        break;
      case '=':
        if (value_) return fail("an = where no key is");
        value_ = true;
        break;
      case '[':
      case '{':
        if (value_ && !begins_word()) return fail("a bracket where no value begins");
        if (value_) open_.push_back(c);
        value_ = value_ && c == '[';
        break;
      case ']':
      case '}':
        if (!open_.empty()) open_.pop_back();
        value_ = true;  // what may follow is no key, if it is no header
        break;
      case ',':
        value_ = !open_.empty() && open_.back() == '[';
        break;
      default:
        return;
    }
    if (c != '.') dots_ = 0;
  }

  /// Whether a key or a value may begin here.
  bool begins_word() const {
    constexpr std::string_view kBlanks = " \t\r";
    std::size_t before = at_;
    while (before > line_begin_ && kBlanks.find(text_[before - 1]) != std::string_view::npos) {
      --before;
    }
    if (before == line_begin_) return true;
    const char last = text_[before - 1];
    return last == '[' || last == '{' || last == ',' || last == (value_ ? '=' : '.');
  }

  /// Leaves at_ at the last of the opening quotes, or at the second of an empty string.
  void open(char quote) {
    if (!begins_word()) return fail("a quote where no key or value begins");
    const std::size_t quotes = quotes_here(quote);
    if (quotes == 2) {
      ++at_;
      return;
    }
    where_ = Part::string;
    quote_ = quote;
    escaped_ = trimmed_ = false;
    several_lines_ = quotes >= kFence;
    if (several_lines_ && !value_) return fail("a key of several lines");
    if (several_lines_) at_ += kFence - 1;
  }

  void string(char c) {
    if (is_beyond_ascii(c) && (escaped_ || trimmed_)) {
      return fail("a character beyond ASCII behind a backslash");
    }
    if (escaped_) {
      trimmed_ = is_blank(c);
      escaped_ = trimmed_ && c != '\n';  // up to the end of the line
      return;
    }
    if (!is_blank(c)) trimmed_ = false;
    if (c == '\\' && quote_ == '"') {
      escaped_ = true;
    } else if (c == quote_) {
      close();
    }
  }

  /// Up to two quotes may stand in front of those that close a string of several lines.
  void close() {
    constexpr std::size_t kMostQuotes = kFence + 2;
    if (!several_lines_) {
      where_ = Part::plain;
      return;
    }
    const std::size_t quotes = std::min(quotes_here(quote_), kMostQuotes);
    if (quotes >= kFence) where_ = Part::plain;
    at_ += quotes - 1;
  }

  std::size_t quotes_here(char quote) const {
    const std::size_t end = std::min(text_.find_first_not_of(quote, at_), text_.size());
    return end - at_;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, line_begin_ = 0, dots_ = 0;
  Part where_ = Part::plain;
  char quote_ = '"';
  bool value_ = false;      ///< what comes next is a value, no key
  std::vector<char> open_;  ///< brackets and braces of the value
  bool several_lines_ = false, escaped_ = false, trimmed_ = false;
  std::optional<TomlFault> fault_;
};

}  // namespace

std::optional<TomlFault> toml_fault(std::string_view text) { return TomlScan(text).fault(); }

}  // namespace ttcheck
