// SPDX-License-Identifier: Apache-2.0
// Expressions come from the file, and a matcher that goes back takes exponential time on a
// hostile one. This one follows all ways at once: bit i of a word says that atom i may be next,
// and each byte of the name moves the bits, so that time is at most atoms times bytes. The word
// is why there are no more than 63 atoms, the bit behind them being the end. Bytes at the front
// that stand for themselves, once, are no atoms but a prefix to compare.
//
// Only whether there is a match is asked, and not which, so that the shortest repetition (`*?`)
// is read as the longest. Parsing gives none for whatever is outside the subset, since a pattern
// half understood would fit the wrong parameters; the caller says so. Names are compared byte by
// byte: `.` and the classes stand for one byte, not for one character.

#include "formats/deepspeed/name_pattern.hpp"

#include <bit>
#include <cstdint>

namespace ttcheck::formats {
namespace {

using Bytes = std::bitset<256>;

constexpr std::size_t kMostBytes = 1024;
constexpr std::size_t kMostAtoms = 63;  ///< bits of a word, less one

std::size_t code_of(char c) { return static_cast<unsigned char>(c); }

Bytes range(char first, char last) {
  Bytes bytes;
  for (std::size_t c = code_of(first); c <= code_of(last); ++c) bytes.set(c);
  return bytes;
}

Bytes one(char c) { return range(c, c); }

/// The one byte of the set.
char byte_of(const Bytes& bytes) {
  std::size_t code = 0;
  while (!bytes.test(code)) ++code;
  return static_cast<char>(code);
}

/// Takes an expression off its front, atom by atom.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool at_quantifier() const {
    return !done() && std::string_view("*+?").find(text_.front()) != std::string_view::npos;
  }

  std::optional<Bytes> atom() {
    const char c = next();
    if (c == '.') return ~one('\n');
    if (c == '\\') return escaped();
    if (c == '[') return set();
    if (std::string_view("^$*+?(){}|").find(c) != std::string_view::npos) return std::nullopt;
    return one(c);
  }

 private:
  char next() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }

  std::optional<Bytes> escaped() {
    if (done()) return std::nullopt;
    const char c = next();
    const Bytes digits = range('0', '9');
    const Bytes letters = range('a', 'z') | range('A', 'Z');
    if (c == 'd') return digits;
    if (c == 'w') return digits | letters | one('_');
    if (c == 's') return one(' ') | range('\t', '\r');
    if ((digits | letters).test(code_of(c))) return std::nullopt;
    return one(c);
  }

  std::optional<Bytes> set() {
    const bool inverted = take('^');
    Bytes bytes;
    for (bool first = true; first || !text_.starts_with(']'); first = false) {
      if (done()) return std::nullopt;
      const char c = next();
      const auto inner = c == '\\' ? escaped() : one(c);
      if (!inner) return std::nullopt;
      if (text_.size() > 1 && text_[0] == '-' && text_[1] != ']') {
        next();
        const char last = next();
        if (inner->count() != 1 || last == '\\') return std::nullopt;
        const char from = byte_of(*inner);
        if (code_of(last) < code_of(from)) return std::nullopt;
        bytes |= range(from, last);
      } else {
        bytes |= *inner;
      }
    }
    next();
    return inverted ? ~bytes : bytes;
  }

  std::string_view text_;
};

}  // namespace

std::optional<DeepspeedPattern> DeepspeedPattern::parse(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  DeepspeedPattern pattern;
  Parser rest(text);
  rest.take('^');
  while (!rest.done()) {
    if (rest.take('$')) {
      pattern.to_end_ = true;
      return rest.done() ? std::optional(pattern) : std::nullopt;
    }
    const auto bytes = rest.atom();
    if (!bytes) return std::nullopt;
    if (pattern.atoms_.empty() && bytes->count() == 1 && !rest.at_quantifier()) {
      pattern.prefix_ += byte_of(*bytes);
      continue;
    }
    if (pattern.atoms_.size() == kMostAtoms) return std::nullopt;
    Atom& atom = pattern.atoms_.emplace_back();
    atom.bytes = *bytes;
    if (rest.take('*')) {
      atom.optional = atom.repeated = true;
    } else if (rest.take('+')) {
      atom.repeated = true;
    } else if (rest.take('?')) {
      atom.optional = true;
    } else {
      continue;
    }
    pattern.any_optional_ = pattern.any_optional_ || atom.optional;
    rest.take('?');  // the shortest match: the same names have one
  }
  return pattern;
}

bool DeepspeedPattern::matches(std::string_view name) const {
  if (!name.starts_with(prefix_)) return false;
  name.remove_prefix(prefix_.size());
  // Bit i: atom i may be next; the bit behind the last: the expression is through.
  const std::uint64_t through = std::uint64_t{1} << atoms_.size();
  const auto skip_optional = [&](std::uint64_t at) {
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      if (atoms_[i].optional && (at >> i & 1) != 0) at |= std::uint64_t{2} << i;
    }
    return at;
  };
  std::uint64_t at = skip_optional(1);
  for (const char c : name) {
    if ((at & through) != 0 && !to_end_) return true;
    std::uint64_t next = 0;
    for (std::uint64_t left = at & ~through; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      const Atom& atom = atoms_[static_cast<std::size_t>(i)];
      if (!atom.bytes.test(code_of(c))) continue;
      next |= (atom.repeated ? std::uint64_t{3} : std::uint64_t{2}) << i;
    }
    if (next == 0) return false;
    at = any_optional_ ? skip_optional(next) : next;
  }
  return (at & through) != 0;
}

}  // namespace ttcheck::formats
