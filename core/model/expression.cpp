// SPDX-License-Identifier: Apache-2.0
// Operators wait on a stack until one that binds less follows (the shunting-yard method).

#include "core/model/expression.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/digits.hpp"
#include "core/model/caret.hpp"

namespace ttcheck {
namespace {

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Evaluation {
 public:
  Evaluation(std::string_view text, const Names& names) : text_(text), names_(names) {}

  std::int64_t run() {
    bool value_next = true;
    for (skip(); at_ < text_.size(); skip()) {
      if (value_next) {
        value_next = !operand();
      } else {
        value_next = operation();
      }
    }
    if (value_next) fail(at_, "expected a number, a name or (");
    while (!waiting_.empty()) {
      if (waiting_.back().sign == '(') fail(waiting_.back().at, "the parenthesis is not closed");
      apply();
    }
    return values_.back();
  }

 private:
  struct Waiting {
    char sign;  ///< + - * / ( or ~ for a sign
    std::size_t at;
    std::string_view call;  ///< of (: the function; empty: none
    std::size_t arguments;  ///< of (: values before it
  };

  [[noreturn]] void fail(std::size_t at, std::string what) const {
    throw LineError(std::move(what), text_, at);
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  static int strength(char sign) {
    if (sign == '~') return 3;
    if (sign == '*' || sign == '/') return 2;
    return sign == '(' ? 0 : 1;
  }

  /// Reads what may stand where a value is due; true when that was a value.
  bool operand() {
    const char c = text_[at_];
    if (c == '(' || c == '-') {
      waiting_.push_back({c == '-' ? '~' : '(', at_, {}, values_.size()});
      ++at_;
      return false;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail(begin, "expected a number, a name or (");
    if (is_digit(word.front())) {
      std::int64_t value = 0;
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (code != std::errc() || end != word.data() + word.size()) fail(begin, "bad number");
      values_.push_back(value);
      return true;
    }
    if (at_ < text_.size() && text_[at_] == '(') {
      waiting_.push_back({'(', at_, word, values_.size()});
      ++at_;
      return false;
    }
    values_.push_back(names_.value(word));
    return true;
  }

  /// Reads what may follow a value; true when a value is due next.
  bool operation() {
    const std::size_t at = at_++;
    const char c = text_[at];
    if (c == ')' || c == ',') {
      while (!waiting_.empty() && waiting_.back().sign != '(') apply();
      if (waiting_.empty()) fail(at, fmt::format("{} without (", c));
      if (c == ',') {
        if (waiting_.back().call.empty()) fail(at, "a comma outside of a call");
        return true;
      }
      close();
      return false;
    }
    if (c != '+' && c != '-' && c != '*' && c != '/') fail(at, "expected + - * / or )");
    while (!waiting_.empty() && strength(waiting_.back().sign) >= strength(c)) apply();
    waiting_.push_back({c, at, {}, 0});
    return true;
  }

  void close() {
    const Waiting open = waiting_.back();
    waiting_.pop_back();
    if (open.call.empty()) return;
    const std::vector<std::int64_t> arguments(
        values_.begin() + static_cast<std::ptrdiff_t>(open.arguments), values_.end());
    values_.resize(open.arguments);
    values_.push_back(names_.call(open.call, arguments));
  }

  /// Does the last waiting operation.
  void apply() {
    const Waiting operation = waiting_.back();
    waiting_.pop_back();
    const std::int64_t right = values_.back();
    values_.pop_back();
    if (operation.sign == '~') {
      values_.push_back(checked_sub<std::int64_t>(0, right));
      return;
    }
    std::int64_t& left = values_.back();
    switch (operation.sign) {
      case '+':
        left = checked_add(left, right);
        break;
      case '-':
        left = checked_sub(left, right);
        break;
      case '*':
        left = checked_mul(left, right);
        break;
      default:
        if (right == 0) fail(operation.at, "division by zero");
        if (right == -1) {
          left = checked_sub<std::int64_t>(0, left);
        } else {
          left /= right;
        }
    }
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> values_;
  std::vector<Waiting> waiting_;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Names& names) {
  return Evaluation(text, names).run();
}

}  // namespace ttcheck
