// SPDX-License-Identifier: Apache-2.0
// The dims grammar by recursive descent; its depth is fixed (line, dim, shard, mod).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/digits.hpp"
#include "core/model/caret.hpp"
#include "core/model/placement.hpp"

namespace ttcheck {
namespace {

constexpr std::size_t kMaxDims = 64;
constexpr std::size_t kMaxParts = 1024;
constexpr std::size_t kMaxShards = 64;

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

class Parser {
 public:
  explicit Parser(std::string_view line) : line_(line) {}

  Placement parse() {
    blanks();
    if (flat_ahead()) {
      flat();
    } else {
      dims();
    }
    if (take('#')) notes();
    if (!at_end()) fail("expected of, # or the end of the line");
    check_axes();
    return std::move(placement_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
    throw LineError(what, line_, at);
  }

  bool at_end() const { return at_ == line_.size(); }
  char ahead() const { return at_end() ? '\0' : line_[at_]; }
  bool take(char c) {
    if (ahead() != c || at_end()) return false;
    ++at_;
    return true;
  }
  void want(char c) {
    if (!take(c)) fail(fmt::format("expected {}", c));
  }
  void blanks() {
    while (is_blank(ahead())) ++at_;
  }

  std::string word(const char* what) {
    const std::size_t begin = at_;
    if (!is_word_start(ahead())) fail(fmt::format("expected {}", what));
    while (is_word_start(ahead()) || is_digit(ahead())) ++at_;
    return std::string(line_.substr(begin, at_ - begin));
  }

  std::int64_t number(std::int64_t least, const char* what) {
    const std::size_t begin = at_;
    while (is_digit(ahead())) ++at_;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(line_.data() + begin, line_.data() + at_, value);
    if (begin == at_ || code != std::errc() || end != line_.data() + at_ || value < least) {
      fail_at(begin, fmt::format("expected {}, at least {}", what, least));
    }
    return value;
  }

  Size size() {
    if (is_digit(ahead())) return number(1, "a size");
    return word("a number or a name of [model]");
  }

  bool flat_ahead() const {
    return line_.substr(at_, 5) == "flat[" || line_.substr(at_, 5) == "flat(";
  }

  void flat() {
    placement_.flat = true;
    at_ += 4;
    const std::size_t begin = at_;
    shards(placement_.flat_shards);
    for (const ShardSpec& shard : placement_.flat_shards) {
      if (shard.partial == Reduce::none) continue;
      fail_at(begin, fmt::format("partial cuts nothing of what is flattened: write # {}:partial",
                                 shard.axis));
    }
    blanks();
    if (line_.substr(at_, 2) == "of" && (at_ + 2 == line_.size() || is_blank(line_[at_ + 2]))) {
      at_ += 2;
      placement_.flat_of = true;
      blanks();
      dims();
      if (placement_.dims.empty()) fail("expected the dimensions that are flattened");
    }
  }

  void dims() {
    bool star = false;
    while (!at_end() && ahead() != '#') {
      const std::size_t begin = at_;
      if (placement_.dims.size() == kMaxDims)
        fail(fmt::format("more than {} dimensions", kMaxDims));
      const DimSpec& dim = placement_.dims.emplace_back(this->dim());
      if (dim.name == "*") {
        if (star) fail_at(begin, "* stands for any number of dimensions, so it can be there once");
        if (!dim.shards.empty()) fail_at(begin, "* cannot be sharded: name the dimension");
        star = true;
      }
      if (!at_end() && !is_blank(ahead()) && ahead() != '#') fail("expected a blank");
      blanks();
    }
  }

  DimSpec dim() {
    DimSpec dim;
    if (ahead() == '(') {
      parts(dim);
    } else if (take('*')) {
      dim.name = "*";
    } else if (take('1')) {
      dim.name = "1";
    } else {
      dim.name = fused("a dimension: a name, *, 1 or (a|b)");
    }
    if (ahead() == '[' || ahead() == '(') shards(dim.shards);
    return dim;
  }

  std::string fused(const char* what) {
    std::string name = word(what);
    while (take('*')) name += "*" + word("a name after *");
    return name;
  }

  /// `(gate|up)`, or `(a*b)`, which is SGLang's way to write `a*b`.
  void parts(DimSpec& dim) {
    const std::size_t begin = at_;
    want('(');
    do {
      if (dim.parts.size() == kMaxParts) fail(fmt::format("more than {} parts", kMaxParts));
      PartSpec part{.name = fused("the name of a part"), .size = std::nullopt};
      if (take(':')) part.size = size();
      dim.parts.push_back(std::move(part));
    } while (take('|'));
    want(')');
    if (dim.parts.size() > 1) {
      for (const PartSpec& part : dim.parts) {
        if (part.name.find('*') != std::string::npos) fail_at(begin, "a part has a plain name");
      }
      return;
    }
    if (dim.parts.front().size || dim.parts.front().name.find('*') == std::string::npos) {
      fail_at(begin, "expected at least two parts: (a|b)");
    }
    dim.name = dim.parts.front().name;
    dim.parts.clear();
  }

  void shards(std::vector<ShardSpec>& list) {
    const bool round = take('(');
    if (!round) want('[');
    do {
      blanks();
      if (round && !list.empty() && mod_ahead()) {  // s(cp,zigzag)
        const std::size_t begin = at_;
        mod(list.back());
        check_mods(list.back(), begin);
      } else {
        if (list.size() == kMaxShards) fail(fmt::format("more than {} axes", kMaxShards));
        shard(list.emplace_back());
      }
      blanks();
    } while (take(','));
    want(round ? ')' : ']');
  }

  void shard(ShardSpec& shard) {
    shard.axis = word("a mesh axis");
    if (!take(':')) return;
    const std::size_t begin = at_;
    do {
      mod(shard);
    } while (take('+'));
    check_mods(shard, begin);
  }

  bool mod_ahead() const {
    static const std::set<std::string_view> kMods = {"even",       "sizes", "zigzag",  "natural",
                                                     "stride",     "pad",   "partial", "sharded",
                                                     "interleave", "align"};
    std::size_t end = at_;
    while (end < line_.size() && is_word_start(line_[end])) ++end;
    return kMods.contains(line_.substr(at_, end - at_));
  }

  void mod(ShardSpec& shard) {
    const std::size_t begin = at_;
    const std::string name =
        word("a mod: even sizes= zigzag stride= interleave= pad= align= partial");
    if (name == "natural" || name == "sharded") return;
    if (name == "even") {
      shard.even = true;
    } else if (name == "zigzag") {
      shard.zigzag = true;
    } else if (name == "partial") {
      shard.partial = reduction();
    } else if (name == "sizes") {
      want('=');
      shard.sizes.clear();
      do {
        shard.sizes.push_back(number(0, "a size"));
      } while (take('/'));
    } else if (name == "stride" || name == "interleave") {
      want('=');
      (name == "stride" ? shard.stride : shard.interleave) = number(1, "a number");
    } else if (name == "pad" || name == "align") {
      want('=');
      (name == "pad" ? shard.pad : shard.align) = size();
    } else {
      fail_at(begin, fmt::format("unknown mod {}; expected even sizes= zigzag natural stride= "
                                 "interleave= pad= align= partial sharded",
                                 name));
    }
  }

  /// What follows `partial`.
  Reduce reduction() {
    if (!take('=')) return Reduce::sum;
    const std::size_t begin = at_;
    const std::string how = word("sum, avg or max");
    if (how == "sum") return Reduce::sum;
    if (how == "avg") return Reduce::avg;
    if (how == "max") return Reduce::max;
    fail_at(begin, fmt::format("unknown reduction {}; expected sum, avg or max", how));
  }

  void check_mods(const ShardSpec& shard, std::size_t begin) const {
    const int ways = (shard.sizes.empty() ? 0 : 1) + (shard.zigzag ? 1 : 0) +
                     (shard.stride != 0 ? 1 : 0) + (shard.interleave != 0 ? 1 : 0);
    if (ways > 1) fail_at(begin, "sizes, zigzag, stride and interleave exclude each other");
    if (shard.partial != Reduce::none && (ways > 0 || shard.even || shard.pad || shard.align)) {
      fail_at(begin, "partial goes with no other mod: nothing is cut along the axis");
    }
  }

  void notes() {
    blanks();
    while (!at_end()) {
      note();
      if (!at_end() && !is_blank(ahead())) fail("expected a blank between notes");
      blanks();
    }
  }

  void note() {
    const std::string axis = word("a note: axis:replicated, axis:partial, rep=any or dp:=group");
    if (axis == "rep" && take('=')) {
      const std::size_t begin = at_;
      if (word("any") != "any") fail_at(begin, "expected any");
      placement_.rep_any = true;
      return;
    }
    want(':');
    if (take('=')) {
      placement_.renamed.emplace_back(axis, word("the axis that is meant"));
      return;
    }
    const std::size_t begin = at_;
    const std::string how = word("replicated or partial");
    if (how == "replicated") {
      placement_.replicated.push_back(axis);
    } else if (how == "partial") {
      placement_.partial.emplace_back(axis, reduction());
    } else if (how != "sharded") {
      fail_at(begin, fmt::format("unknown note {}; expected replicated or partial", how));
    }
  }

  /// An axis says one thing in a line.
  void check_axes() const {
    std::set<std::string_view> seen;
    const auto once = [&](const std::string& axis) {
      if (!seen.insert(axis).second) {
        fail_at(line_.rfind(axis), fmt::format("the axis {} is named twice", axis));
      }
    };
    for (const ShardSpec& shard : placement_.flat_shards) once(shard.axis);
    for (const DimSpec& dim : placement_.dims) {
      for (const ShardSpec& shard : dim.shards) once(shard.axis);
    }
    for (const auto& [axis, how] : placement_.partial) once(axis);
    for (const std::string& axis : placement_.replicated) once(axis);
  }

  std::string_view line_;
  std::size_t at_ = 0;
  Placement placement_;
};

}  // namespace

Placement parse_dims(std::string_view line) { return Parser(line).parse(); }

}  // namespace ttcheck
