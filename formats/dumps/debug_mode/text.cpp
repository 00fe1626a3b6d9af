// SPDX-License-Identifier: Apache-2.0
// Nothing here is parsed into a tree. A caller takes one level of a printed value at a time, and
// each item is a view into the line. One pass over the characters counts open brackets and
// follows quotes with their escapes; a comma outside of both ends an item. All kinds of brackets
// count alike: text that was cut, or is not Python's, gives other items and never an Error, and
// what is no tensor among them is passed over.
//
// A tensor is its letters (`t`, `ft`, `dt`), perhaps a number behind `$`, a dtype by torch's
// abbreviation, and a shape of 64 extents at most. Whatever follows the shape, such as a
// DTensor's placements, is not looked at.

#include "formats/dumps/debug_mode/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;

struct Abbreviation {
  std::string_view word;
  DType dtype;
};

/// torch.dtype.abbr
constexpr std::array kAbbreviations = {
    Abbreviation{"b8", DType::boolean},
    Abbreviation{"u8", DType::u8},
    Abbreviation{"i8", DType::i8},
    Abbreviation{"u16", DType::u16},
    Abbreviation{"i16", DType::i16},
    Abbreviation{"u32", DType::u32},
    Abbreviation{"i32", DType::i32},
    Abbreviation{"u64", DType::u64},
    Abbreviation{"i64", DType::i64},
    Abbreviation{"f16", DType::f16},
    Abbreviation{"bf16", DType::bf16},
    Abbreviation{"f32", DType::f32},
    Abbreviation{"f64", DType::f64},
    Abbreviation{"c32", DType::c32},
    Abbreviation{"c64", DType::c64},
    Abbreviation{"c128", DType::c128},
    Abbreviation{"f8e4m3fn", DType::f8_e4m3fn},
    Abbreviation{"f8e5m2", DType::f8_e5m2},
    Abbreviation{"f8e4m3fnuz", DType::f8_e4m3fnuz},
    Abbreviation{"f8e5m2fnuz", DType::f8_e5m2fnuz},
    Abbreviation{"f8e8m0fnu", DType::f8_e8m0},
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Follows brackets and quotes through a text.
class Nesting {
 public:
  /// True for a character that is outside of all of them.
  bool outside(char letter) {
    if (quote_ != '\0') {
      if (escaped_) {
        escaped_ = false;
      } else if (letter == '\\') {
        escaped_ = true;
      } else if (letter == quote_) {
        quote_ = '\0';
      }
      return false;
    }
    if (letter == '\'' || letter == '"') {
      quote_ = letter;
      return false;
    }
    if (letter == '(' || letter == '[' || letter == '{') {
      ++depth_;
      return false;
    }
    if (letter == ')' || letter == ']' || letter == '}') {
      if (depth_ > 0) --depth_;
      return false;
    }
    return depth_ == 0;
  }

 private:
  char quote_ = '\0';
  bool escaped_ = false;
  std::size_t depth_ = 0;
};

}  // namespace

std::vector<std::string_view> split_items(std::string_view text) {
  std::vector<std::string_view> items;
  Nesting nesting;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!nesting.outside(text[at]) || text[at] != ',') continue;
    items.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  const std::string_view last = trimmed(text.substr(begin));
  if (!last.empty()) items.push_back(last);
  return items;
}

std::optional<std::string_view> inside_brackets(std::string_view text) {
  constexpr std::string_view kOpening = "([{";
  constexpr std::string_view kClosing = ")]}";
  text = trimmed(text);
  if (text.size() < 2) return std::nullopt;
  const std::size_t kind = kOpening.find(text.front());
  if (kind == std::string_view::npos || text.back() != kClosing[kind]) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<std::string_view> dict_value(std::string_view dict, std::string_view key) {
  const auto inside = inside_brackets(dict);
  if (!inside) return std::nullopt;
  for (std::string_view item : split_items(*inside)) {
    if (item.size() < key.size() + 3 || (item.front() != '\'' && item.front() != '"')) continue;
    if (item.substr(1, key.size()) != key || item[key.size() + 1] != item.front()) continue;
    item.remove_prefix(key.size() + 2);
    if (item.starts_with(':')) return trimmed(item.substr(1));
  }
  return std::nullopt;
}

std::optional<LoggedTensor> logged_tensor(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 2 && text.front() == '\'' && text.back() == '\'') {
    text = text.substr(1, text.size() - 2);
  }
  LoggedTensor tensor;
  if (text.starts_with("dt")) {
    tensor.distributed = true;
    text.remove_prefix(2);
  } else if (text.starts_with("ft")) {
    text.remove_prefix(2);
  } else if (text.starts_with('t')) {
    text.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  if (text.starts_with('$')) {
    text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  }
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (!text.starts_with(": ") || open == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const std::string_view word = text.substr(2, open - 2);
  const auto row = std::ranges::find(kAbbreviations, word, &Abbreviation::word);
  if (row == kAbbreviations.end() || close == std::string_view::npos) return std::nullopt;
  tensor.dtype = row->dtype;
  for (const std::string_view extent : split_items(text.substr(open + 1, close - open - 1))) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(extent.data(), extent.data() + extent.size(), number);
    const bool whole = error == std::errc{} && end == extent.data() + extent.size();
    if (!whole || number < 0 || tensor.shape.size() == kMostDims) return std::nullopt;
    tensor.shape.push_back(number);
  }
  return tensor;
}

}  // namespace ttcheck::formats
