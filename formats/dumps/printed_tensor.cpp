// SPDX-License-Identifier: Apache-2.0
// One pass over the text keeps a stack of open lists. The first list that closes at a depth gives
// the form of its dimension, the numbers of items before and after the dots, and all others of
// that depth must have it too. Numbers stand in the innermost lists alone.
// Dots cut the array into boxes: a dimension that has them is printed in two stretches at most,
// so each one doubles the cells. A cell is a box of the array whose elements lie among the
// printed ones, in their strides; what is between the stretches is a hole.
// The digits say how far values can be told apart. With an exponent the spacing is relative to
// each number; without one it is the same for all, and is taken over their root mean square.
// Integers and truth values are exact. A text that ends early, lists of unequal length and a
// number that an integer dtype does not hold throw Error. At most 64 levels and 4096 cells are
// taken.

#include "formats/dumps/printed_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxDims = 64;            // of a torch tensor
constexpr std::size_t kMaxPrintedCells = 4096;  // twelve dimensions with dots
constexpr std::string_view kBlanks = " \n\t\r";

/// A real number taken off the front of `text`, as Python spells it.
double take_real(std::string_view& text) {
  const std::string_view whole = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  if (text.starts_with("inf")) {
    number = HUGE_VAL;
    text.remove_prefix(3);
  } else if (text.starts_with("nan")) {
    number = NAN;
    text.remove_prefix(3);
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || text.starts_with('-')) {
      throw Error(fmt::format("a number was expected, found '{}'", whole));
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return negative ? -number : number;
}

/// The digits behind the points of all numbers, and how large these are.
class Grain {
 public:
  void see(std::string_view token, double number) {
    const std::size_t point = token.find('.');
    if (point == std::string_view::npos) return;
    const std::size_t exponent = token.find('e', point);
    const std::size_t end =
        std::min(token.find_first_not_of("0123456789", point + 1), token.size());
    const double unit = std::pow(10, -static_cast<double>(end - point - 1));
    if (exponent != std::string_view::npos) {
      relative_ = std::max(relative_, unit);
    } else if (unit < 1) {
      absolute_ = std::max(absolute_, unit);
    }
    if (std::isfinite(number)) squares_ += number * number;
    ++count_;
  }

  /// 0 where so many digits tell all values of the dtype apart.
  double of(DType dtype) const {
    const double eps = epsilon(part_of(dtype));
    const double scaled = relative_ < eps / 2 ? 0 : relative_;
    const double rms = count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0;
    return rms > 0 && std::isfinite(rms) ? std::max(scaled, absolute_ / rms) : scaled;
  }

 private:
  double relative_ = 0, absolute_ = 0, squares_ = 0;
  std::int64_t count_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, DType dtype) : text_(text), dtype_(dtype) {
    if (bits(part_of(dtype)) < 8) {
      throw Error(fmt::format("{} is a packed type, which is not read from text", name(dtype)));
    }
  }

  PrintedTensor parse() {
    start();
    do {
      const char next = skip_blanks();
      if (next == '[') {
        open();
      } else if (next == ']') {
        close();
      } else if (next == ',' && depth_ > 0) {
        text_.remove_prefix(1);
      } else if (text_.starts_with("...")) {
        dots();
      } else {
        value();
      }
    } while (depth_ > 0);
    made_.grain = is_exact(dtype_) ? 0 : grain_.of(dtype_);
    return std::move(made_);
  }

 private:
  struct Level {
    PrintedDim here;  ///< of the list that is open
    bool known = false;
  };

  void start() {
    constexpr std::string_view kWord = "tensor(";
    const std::size_t at = text_.find(kWord);
    if (at == std::string_view::npos) throw Error("text has no 'tensor('");
    text_.remove_prefix(at + kWord.size());
  }

  char skip_blanks() {
    text_.remove_prefix(std::min(text_.find_first_not_of(kBlanks), text_.size()));
    if (text_.empty()) throw Error("text ends before its last bracket");
    return text_.front();
  }

  void open() {
    text_.remove_prefix(1);
    if (leaves_at_ && depth_ >= *leaves_at_) throw Error("a list was found beside numbers");
    if (depth_ == kMaxDims) throw Error(fmt::format("more than {} nested lists", kMaxDims));
    if (++depth_ > levels_.size()) {
      levels_.emplace_back();
      made_.dims.emplace_back();
    }
    levels_[depth_ - 1].here = {};
  }

  void close() {
    if (depth_ == 0) throw Error("a number was expected, found ']'");
    text_.remove_prefix(1);
    Level& level = levels_[depth_ - 1];
    PrintedDim& form = made_.dims[depth_ - 1];
    if (level.known && level.here != form) throw Error("lists of one level differ in length");
    form = level.here;
    level.known = true;
    if (--depth_ > 0) add_item();
  }

  void add_item() {
    PrintedDim& here = levels_[depth_ - 1].here;
    ++(here.dots ? here.after : here.before);
  }

  void dots() {
    text_.remove_prefix(3);
    if (depth_ == 0) throw Error("a number was expected, found '...'");
    PrintedDim& here = levels_[depth_ - 1].here;
    if (here.dots) throw Error("dots stand twice in one list");
    here.dots = true;
  }

  void value() {
    const std::size_t end = text_.find_first_of(",]) \n\t\r");
    const std::string_view token = text_.substr(0, end);
    if (leaves_at_.value_or(depth_) != depth_ || depth_ < levels_.size()) {
      throw Error(fmt::format("a list was expected, found '{}'", token));
    }
    leaves_at_ = depth_;
    add(token);
    text_.remove_prefix(token.size());
    ++made_.count;
    if (depth_ > 0) add_item();
  }

  void add(std::string_view token) {
    if (dtype_ == DType::boolean) {
      if (token != "True" && token != "False") unexpected("True or False", token);
      return add_code(token == "True" ? 1 : 0);
    }
    if (dtype_ == DType::i64)
      return add_code(static_cast<std::uint64_t>(whole<std::int64_t>(token)));
    if (dtype_ == DType::u64) return add_code(whole<std::uint64_t>(token));
    std::string_view rest = token;
    const double real = take_real(rest);
    grain_.see(token, real);
    add_number(real, token);
    if (is_complex(dtype_)) {
      add_number(take_real(rest), token);
      if (rest != "j") unexpected("a complex number", token);
    } else if (!rest.empty()) {
      unexpected("a number", token);
    }
  }

  [[noreturn]] static void unexpected(std::string_view what, std::string_view token) {
    throw Error(fmt::format("{} was expected, found '{}'", what, token));
  }

  template <class Whole>
  static Whole whole(std::string_view token) {
    Whole number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error != std::errc{} || end != token.data() + token.size()) unexpected("an integer", token);
    return number;
  }

  void add_number(double number, std::string_view token) {
    const DType part = part_of(dtype_);
    const std::uint64_t code = code_of(part, number);
    if (is_exact(part) && value_of(part, code) != number) unexpected(name(part), token);
    add_code(code);
  }

  void add_code(std::uint64_t code) {
    for (int bit = 0; bit < bits(part_of(dtype_)); bit += 8) {
      made_.values.push_back(static_cast<std::byte>(code >> bit));
    }
  }

  std::string_view text_;
  DType dtype_;
  PrintedTensor made_;
  Grain grain_;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;  ///< lists that are open
  std::optional<std::size_t> leaves_at_;
};

/// Indices of one dimension that follow each other, and where they stand among the printed ones.
struct Stretch {
  std::int64_t lo = 0, size = 0, start = 0;
};

std::vector<Stretch> stretches_of(const PrintedDim& dim, std::int64_t extent) {
  if (!dim.dots) return {{0, extent, 0}};
  std::vector<Stretch> stretches;
  if (dim.before > 0) stretches.push_back({0, dim.before, 0});
  if (dim.after > 0) stretches.push_back({extent - dim.after, dim.after, dim.before});
  return stretches;
}

void check_shape(const PrintedTensor& printed, const Shape& shape) {
  bool fits = printed.dims.size() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d) {
    const PrintedDim& dim = printed.dims[d];
    const std::int64_t there = checked_add(dim.before, dim.after);
    fits = dim.dots ? there < shape[d] : there == shape[d];
  }
  if (fits) return;
  throw Error(fmt::format("the printed numbers, {} in {} dimensions, are not of shape [{}]",
                          printed.count, printed.dims.size(), fmt::join(shape, ", ")));
}

/// What is left of `box` when dimension `d` is cut to a stretch.
Box cut(Box box, std::size_t d, std::int64_t lo, std::int64_t size) {
  box.lo[d] = lo;
  box.size[d] = size;
  return box;
}

/// Dimension by dimension: each cell so far falls into the printed stretches of the next one, and
/// what lies between them is a hole.
PrintedParts cut_up(const std::vector<PrintedDim>& dims, const Shape& shape,
                    const Extents& strides) {
  PrintedParts parts;
  parts.cells = {{whole(shape), 0, strides}};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<Cell> cells;
    for (const Cell& cell : parts.cells) {
      for (const Stretch& stretch : stretches_of(dims[d], shape[d])) {
        cells.push_back({cut(cell.box, d, stretch.lo, stretch.size),
                         cell.start + stretch.start * strides[d], strides});
      }
      if (!dims[d].dots) continue;
      const std::int64_t open = shape[d] - dims[d].before - dims[d].after;
      parts.holes.push_back(cut(cell.box, d, dims[d].before, open));
    }
    if (cells.size() > kMaxPrintedCells) throw Error("too many dimensions are printed in part");
    parts.cells = std::move(cells);
  }
  return parts;
}

}  // namespace

PrintedTensor parse_printed(std::string_view text, DType dtype) {
  return Parser(text, dtype).parse();
}

std::optional<double> printed_number(std::string_view text) {
  try {
    const PrintedTensor printed = parse_printed(text, DType::f64);
    if (!printed.dims.empty() || printed.count != 1) return std::nullopt;
    double number = 0;
    to_doubles(DType::f64, printed.values.data(), 1, &number);
    return number;
  } catch (const Error&) {
    return std::nullopt;
  }
}

PrintedParts parts_of(const PrintedTensor& printed, const Shape& shape) {
  if (printed.count == 0 && element_count(shape) == 0) return {};
  if (printed.count == 0 && std::ranges::any_of(printed.dims, &PrintedDim::dots)) {
    throw Error::unable("dots stand for all of the numbers: none is printed");  // edgeitems=0
  }
  check_shape(printed, shape);
  static_cast<void>(element_count(shape));
  if (std::ranges::none_of(printed.dims, &PrintedDim::dots)) return {};
  Shape there;
  for (const PrintedDim& dim : printed.dims) there.push_back(checked_add(dim.before, dim.after));
  return cut_up(printed.dims, shape, row_major_strides(there));
}

}  // namespace ttcheck::formats
