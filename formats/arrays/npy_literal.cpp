// SPDX-License-Identifier: Apache-2.0
// The parser goes through the text once, from left to right. The three keys may stand in any
// order, each once, and a comma may end the dict. A `descr` is a code in quotes, or a list of
// fields, each with a `descr` of its own: the one recursion, at most 8 deep. The bytes of an item
// are the number in the code, four times it for `U`, and of a structured type the sum over its
// fields, each times its count; overflow is an Error. Python 2 left its marks: a long ends in
// `L`, and a string may begin with `u`. A string is kept as it is written; its escapes are
// skipped, not resolved. A shape has at most 64 dimensions. The caller bounds the length of the
// text, and with it time and memory.

#include "formats/arrays/npy_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxDims = 64;
constexpr int kMaxNesting = 8;  // structured dtypes within structured dtypes

class Parser {
 public:
  Parser(std::string_view text, const Where& where) : text_(text), where_(where) {}

  NpyLiteral header() {
    NpyLiteral literal;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      bool& seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (key != "descr" && key != "fortran_order" && key != "shape") {
        fail(fmt::format("unknown key '{}'", key));
      }
      if (seen) fail(fmt::format("key '{}' twice", key));
      seen = true;
      if (key == "descr") {
        literal.descr = this->descr(0);
      } else if (key == "fortran_order") {
        literal.fortran_order = boolean();
      } else {
        literal.shape = extents();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) fail("descr, fortran_order and shape are needed");
    blanks();
    if (at_ != text_.size()) fail("there is more after the dict");
    return literal;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    Where where = where_;
    where.offset = checked_add<std::uint64_t>(where.offset.value_or(0), at_);
    throw Error("npy header: " + message, std::move(where));
  }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool accept(char wanted) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      fail(at_ < text_.size() ? fmt::format("'{}' was expected, found '{}'", wanted, text_[at_])
                              : fmt::format("'{}' was expected at its end", wanted));
    }
  }

  /// A quoted string without escapes: dtype codes and keys have none; names of fields may, and are
  /// kept as written.
  std::string string() {
    blanks();
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b')) ++at_;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a quoted string was expected");
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2U : 1U;
    if (at_ >= text_.size()) fail("a string has no end");
    return std::string(text_.substr(begin, at_++ - begin));
  }

  bool boolean() {
    blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("True or False was expected");
  }

  /// Digits, with the L that Python 2 put behind a long.
  std::int64_t natural() {
    blanks();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    if (at_ < text_.size() && text_[at_] == '-') fail("a negative number");
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a number beyond 64 bits");
    if (error != std::errc{}) fail("a number was expected");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  Shape extents() {
    Shape shape;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("',' was expected");
      if (shape.size() == kMaxDims) fail(fmt::format("more than {} dimensions", kMaxDims));
      shape.push_back(natural());
      comma = accept(',');
    }
    if (shape.size() == 1 && !comma) fail("a shape of one number needs a comma");
    return shape;
  }

  // Recursion is at most kMaxNesting deep.
  NpyDescr descr(int nesting) {  // NOLINT(misc-no-recursion)
    blanks();
    const std::size_t begin = at_;
    NpyDescr found;
    if (accept('[')) {
      if (nesting == kMaxNesting) fail(fmt::format("dtypes nested deeper than {}", kMaxNesting));
      bool comma = true;
      while (!accept(']')) {
        if (!comma) fail("',' was expected");
        field(found, nesting);
        comma = accept(',');
      }
    } else {
      found.code = string();
      found.object = found.code.find('O') != std::string::npos;
      found.item_bytes = found.object ? 0 : code_bytes(found.code);
    }
    found.text = text_.substr(begin, at_ - begin);
    return found;
  }

  /// One `(name, dtype[, shape])` of a structured dtype; a name may be `(title, name)`.
  void field(NpyDescr& whole, int nesting) {  // NOLINT(misc-no-recursion)
    expect('(');
    if (accept('(')) {
      string();
      expect(',');
      string();
      expect(')');
    } else {
      string();
    }
    expect(',');
    const NpyDescr type = descr(nesting + 1);
    std::int64_t count = 1;
    if (accept(',')) {
      blanks();
      const bool tuple = at_ < text_.size() && text_[at_] == '(';
      if (tuple) {
        count = element_count(extents());
      } else if (at_ < text_.size() && text_[at_] != ')') {
        count = natural();
      }
    }
    expect(')');
    whole.object = whole.object || type.object;
    whole.item_bytes = checked_add(
        whole.item_bytes, checked_mul(type.item_bytes, checked_cast<std::uint64_t>(count)));
  }

  /// Bytes of an item of a code such as `<f4`, `|S7`, `<U7` (4 bytes each), `<M8[ns]`.
  std::uint64_t code_bytes(std::string_view code) const {
    std::size_t digit = code.find_first_of("0123456789");
    std::uint64_t size = 0;
    if (digit == std::string_view::npos) return 0;
    const char kind = digit == 0 ? '\0' : code[digit - 1];
    const auto [end, error] = std::from_chars(code.data() + digit, code.data() + code.size(), size);
    if (error != std::errc{}) fail(fmt::format("dtype '{}' has a size beyond 64 bits", code));
    static_cast<void>(end);
    return kind == 'U' ? checked_mul<std::uint64_t>(size, 4) : size;
  }

  std::string_view text_;
  const Where& where_;
  std::size_t at_ = 0;
};

}  // namespace

NpyLiteral parse_npy_literal(std::string_view text, const Where& where) {
  try {
    return Parser(text, where).header();
  } catch (const Error& error) {
    throw error.at(where);
  }
}

}  // namespace ttcheck::formats
