#include "core/assemble/coverage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::assemble {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

auto checked(const Shape& shape, const std::vector<Box>& boxes) {
  std::vector<const Box*> list;
  for (const Box& box : boxes) list.push_back(&box);
  return check_coverage(shape, list);
}

/// Row-major places of the elements in boxes, ascending, one as often as it is there.
Extents places(const Shape& shape, const std::vector<Box>& boxes) {
  Extents list;
  for (const Box& box : boxes) {
    for (std::int64_t i = 0; i < volume(box); ++i) {
      Extents index = unravel(box.size, i);
      for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.lo[d];
      list.push_back(linear_index(shape, index));
    }
  }
  std::ranges::sort(list);
  return list;
}

TEST_CASE("overlaps and holes of boxes in a shape") {
  struct Row {
    const char* what;
    Shape shape;
    std::vector<Box> boxes;
    std::optional<Pair> overlap;
    Extents open;
  };
  const std::vector<Row> rows = {
      {"all in one", {2, 3}, {{{0, 0}, {2, 3}}}, {}, {}},
      {"no box", {2, 2}, {}, {}, {0, 1, 2, 3}},
      {"no elements", {0, 3}, {}, {}, {}},
      {"no elements twice", {0, 3}, {{{0, 0}, {0, 3}}, {{0, 0}, {0, 3}}}, {}, {}},
      {"a number", {}, {{}}, {}, {}},
      {"no number", {}, {}, {}, {0}},
      {"a number twice", {}, {{}, {}}, Pair{0, 1}, {}},
      {"rows, the last first", {3, 2}, {{{2, 0}, {1, 2}}, {{0, 0}, {2, 2}}}, {}, {}},
      {"columns", {2, 3}, {{{0, 0}, {2, 1}}, {{0, 1}, {2, 2}}}, {}, {}},
      {"the first row is open", {3, 2}, {{{1, 0}, {2, 2}}}, {}, {0, 1}},
      {"the last row is open", {3, 2}, {{{0, 0}, {2, 2}}}, {}, {4, 5}},
      {"between two", {4}, {{{3}, {1}}, {{0}, {1}}}, {}, {1, 2}},
      {"a ring", {3, 3}, {{{1, 1}, {1, 1}}}, {}, {0, 1, 2, 3, 5, 6, 7, 8}},
      {"side by side in rows that both cross",
       {3, 4},
       {{{0, 0}, {2, 2}}, {{1, 2}, {2, 2}}},
       {},
       {2, 3, 8, 9}},
      {"one element in two", {5}, {{{0}, {3}}, {{2}, {3}}}, Pair{0, 1}, {}},
      {"as many elements as there are, one twice", {4}, {{{0}, {2}}, {{1}, {2}}}, Pair{0, 1}, {3}},
      {"the later one first", {4}, {{{1}, {3}}, {{0}, {2}}}, Pair{0, 1}, {}},
      {"the same box three times", {2}, {{{0}, {2}}, {{0}, {2}}, {{0}, {2}}}, Pair{0, 1}, {}},
      {"a long one under the third", {6}, {{{0}, {6}}, {{4}, {2}}, {{1}, {2}}}, Pair{0, 2}, {}},
      {"in a corner", {3, 3}, {{{0, 0}, {2, 2}}, {{1, 1}, {2, 2}}}, Pair{0, 1}, {2, 6}},
      {"beyond one that has ended",
       {4, 2},
       {{{0, 0}, {1, 2}}, {{1, 0}, {3, 1}}, {{1, 1}, {2, 1}}, {{2, 1}, {2, 1}}},
       Pair{2, 3},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto found = checked(row.shape, row.boxes);
    CHECK(found.overlap == row.overlap);
    CHECK(places(row.shape, found.holes) == row.open);
  }
}

/// `count` boxes of `size`, one every `step` along `dim`.
std::vector<Box> line_of(std::int64_t count, std::size_t dim, std::int64_t step,
                         const Shape& size) {
  std::vector<Box> boxes;
  for (std::int64_t i = count; i-- > 0;) {
    boxes.push_back({Extents(size.size(), 0), size});
    boxes.back().lo[dim] = i * step;
  }
  return boxes;
}

TEST_CASE("many boxes in a line are no work, whichever way it runs") {
  constexpr std::int64_t kMany = 10'000;  // whose pairs are more than the steps of a check
  for (std::size_t dim = 0; dim < 3; ++dim) {
    INFO("along ", dim);
    Shape size{1, 1, 1};
    Shape shape = size;
    shape[dim] = 2 * kMany;
    size[dim] = 2;
    const auto full = checked(shape, line_of(kMany, dim, 2, size));
    CHECK_FALSE(full.overlap);
    CHECK(full.holes.empty());
    size[dim] = 1;
    const auto half = checked(shape, line_of(kMany, dim, 2, size));
    CHECK_FALSE(half.overlap);
    CHECK(half.holes.size() == kMany);
  }
}

TEST_CASE("boxes that are too scattered are not walked") {
  // Columns of a triangle: each starts a row further down and reaches the last row, so that all
  // are under the front at its end.
  const auto triangle = [](std::int64_t count) {
    std::vector<Box> boxes;
    for (std::int64_t i = 0; i < count; ++i) boxes.push_back({{i, i}, {count - i, 1}});
    return checked({count, count}, boxes);
  };
  CHECK(tests::error_of([&] { triangle(9'000); }) ==
        "the pieces are too many and too scattered to check");
  CHECK(places({100, 100}, triangle(100).holes).size() == 100 * 99 / 2);
}

}  // namespace
}  // namespace ttcheck::assemble
