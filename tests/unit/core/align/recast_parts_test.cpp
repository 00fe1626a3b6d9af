// SPDX-License-Identifier: Apache-2.0
// Which of several ways to see a tensor counts, and what is left of it.

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/align/recast.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using Words = std::vector<std::string>;

/// One way to see a tensor: its parts, and the op that makes it of them.
struct Seen {
  Words parts;
  std::string op = "same";
};

struct Held {
  std::string name;
  Shape shape;
  std::vector<Seen> ways;
  DType dtype = DType::f32;
};

struct Sides {
  std::vector<Tensor> reference, candidate;
};

std::vector<Tensor> tensors_of(const std::vector<Held>& list) {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 12));
  std::vector<Tensor> all;
  for (const Held& one : list) {
    all.push_back(tests::named(one.name, tests::tensor_of(source, one.dtype, one.shape)));
  }
  return all;
}

Sides sides_of(const std::vector<Held>& left, const std::vector<Held>& right) {
  return {tensors_of(left), tensors_of(right)};
}

/// All of both sides are alone.
Recasts recast_all(const Sides& sides, const std::vector<Held>& left,
                   const std::vector<Held>& right) {
  const auto readings = [](const std::vector<Held>& list) -> Readings {
    return [&list](const Tensor& tensor) {
      std::vector<Reading> found;
      for (const Held& one : list) {
        if (one.name != tensor.identity.name) continue;
        for (const Seen& way : one.ways) found.push_back({"s", way.parts, parse_op(way.op)});
      }
      return found;
    };
  };
  std::vector<std::size_t> all_left, all_right;
  for (std::size_t i = 0; i < left.size(); ++i) all_left.push_back(i);
  for (std::size_t j = 0; j < right.size(); ++j) all_right.push_back(j);
  const Readings of_left = readings(left), of_right = readings(right);
  return recast({sides.reference, all_left, of_left}, {sides.candidate, all_right, of_right}, {});
}

Recasts recast_all(const std::vector<Held>& left, const std::vector<Held>& right) {
  return recast_all(sides_of(left, right), left, right);
}

/// `name-what it is seen as` of each pair, then what is left over.
Words met(const std::vector<Held>& left, const std::vector<Held>& right) {
  const Recasts made = recast_all(left, right);
  Words words;
  for (const Recast& pair : made.pairs) {
    words.push_back(left[pair.reference].name + "-" + pair.seen.identity.name);
  }
  for (const Tensor& rest : made.rest) words.push_back("-" + rest.identity.name);
  return words;
}

TEST_CASE("what meets what") {
  struct Row {
    std::string what;
    std::vector<Held> left, right;
    Words expected;
  };
  const Held p{"p", {2, 2}, {{{"p"}}}}, q{"q", {2, 2}, {{{"q"}}}};
  const Held whole{"whole", {4, 2}, {{{"p", "q"}, "concat(0)"}}};
  const Held spare{"spare", {4, 2}, {{{"r"}}}};
  const Held either{"z", {4, 2}, {{{"p", "q"}, "concat(0)"}, {{"r"}}}};
  const std::vector<Row> rows = {
      {"one for one", {p}, {p}, {"p-p"}},
      {"a part of a whole", {p}, {whole}, {"p-whole[p]", "-whole[q]"}},
      {"the other part", {q}, {whole}, {"q-whole[q]", "-whole[p]"}},
      {"all parts", {p, q}, {whole}, {"p-whole[p]", "q-whole[q]"}},
      {"a whole of parts", {whole}, {p, q}, {"whole-{p,q}"}},
      {"two that offer one part", {p}, {p, {"again", {2, 2}, {{{"p"}}}}}, {}},
      {"a part that was used", {p, {"again", {2, 2}, {{{"p"}}}}}, {p}, {"p-p"}},
      {"under another reading than it was used",
       {p, {"r", {4, 2}, {{{"r"}}}}},
       {{"whole", {4, 2}, {{{"p", "q"}, "concat(0)"}, {{"r"}}}}},
       {"p-whole[p]", "-whole[q]"}},
      {"one part turned keeps its name",
       {{"p", {2, 4}, {{{"p"}}}}},
       {{"turned", {4, 2}, {{{"p"}, "transpose"}}}},
       {"p-turned"}},
      {"more parts than the op makes",
       {p, q},
       {{"turned", {2, 2}, {{{"p", "q"}, "transpose"}}}},
       {}},
      {"twice the one tensor, under two readings",
       {either},
       {{"twice", {2, 2}, {{{"p"}}, {{"q"}}}}, spare},
       {"z-spare"}},
      {"parts of two dtypes",
       {either},
       {p, {"q", {2, 2}, {{{"q"}}}, DType::f16}, spare},
       {"z-spare"}},
      {"parts that do not make the whole",
       {either},
       {p, {"q", {3, 2}, {{{"q"}}}}, spare},
       {"z-spare"}},
      {"parts whose lengths the reference says",
       {{"z", {6, 2}, {{{"p", "q"}, "concat(0)"}}},
        {"a", {1, 2}, {{{"p"}}}},
        {"b", {3, 2}, {{{"q"}}}}},
       {whole},
       {"a-whole[p]", "b-whole[q]"}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(met(row.left, row.right) == row.expected);
  }
}

TEST_CASE("of several readings the first that gives the shape, else the first, but of no record") {
  struct Row {
    Shape reference;
    Shape seen, of_record;  ///< none: it is not met
  };
  const std::vector<Held> right = {{"w", {4, 2}, {{{"p"}}, {{"p"}, "transpose"}}}};
  for (const Row& row :
       {Row{{4, 2}, {4, 2}, {4, 2}}, Row{{2, 4}, {2, 4}, {2, 4}}, Row{{5, 5}, {4, 2}, {}}}) {
    const std::vector<Held> left = {{"w", row.reference, {{{"p"}}}}};
    Sides sides = sides_of(left, right);
    const Recasts made = recast_all(sides, left, right);
    REQUIRE(made.pairs.size() == 1);
    CHECK(made.pairs[0].seen.shape == row.seen);
    sides.reference[0].identity.phase = sides.candidate[0].identity.phase = Phase::forward;
    const Recasts of_records = recast_all(sides, left, right);
    REQUIRE(of_records.pairs.size() == (row.of_record.empty() ? 0 : 1));
    if (!row.of_record.empty()) CHECK(of_records.pairs[0].seen.shape == row.of_record);
  }
}

TEST_CASE("values that were not kept are seen as nothing else, nor addends as one tensor") {
  const std::vector<Held> whole = {{"whole", {4, 2}, {{{"p", "q"}, "concat(0)"}}}};
  const std::vector<Held> parts = {{"p", {2, 2}, {{{"p"}}}}, {"q", {2, 2}, {{{"q"}}}}};
  Sides sides = sides_of(whole, parts);
  CHECK(recast_all(sides, whole, parts).pairs.size() == 1);
  sides.reference[0].stored = false;  // nothing is seen within it
  CHECK(recast_all(sides, whole, parts).pairs.size() == 1);
  sides = sides_of(whole, parts);
  sides.candidate[1].stored = false;
  CHECK(recast_all(sides, whole, parts).pairs.empty());
  sides = sides_of(whole, parts);
  sides.candidate[1].reduce = Reduce::sum;
  CHECK(recast_all(sides, whole, parts).pairs.empty());
}

TEST_CASE("a tensor that is seen as itself is the candidate's in all") {
  const std::vector<Held> one = {{"w", {2, 2}, {{{"p"}}}}};
  Sides sides = sides_of(one, one);
  sides.candidate[0].undeclared = sides.candidate[0].by_rank = true;
  const Recasts made = recast_all(sides, one, one);
  REQUIRE(made.pairs.size() == 1);
  CHECK(made.pairs[0].seen.undeclared);
  CHECK(made.pairs[0].seen.by_rank);
  CHECK(made.used == std::vector<std::size_t>{0});
}

TEST_CASE("pairs that leave some of a tensor out are counted") {
  struct Row {
    std::string what;
    std::vector<Held> left, right;
    std::int64_t sliced;
  };
  const Held own_p{"p", {2, 2}, {{{"p"}, "slice(0,0,2)"}}};
  const Held own_q{"q", {2, 2}, {{{"q"}, "slice(0,0,2)"}}};
  const Held padded_p{"p", {3, 2}, {{{"p"}}}}, padded_q{"q", {3, 2}, {{{"q"}}}};
  for (const Row& row :
       {Row{"none", {padded_p}, {padded_p}, 0}, Row{"the candidate's", {own_p}, {padded_p}, 1},
        Row{"the reference's", {padded_p}, {own_p}, 1},
        Row{"of two", {own_p, own_q}, {padded_p, padded_q}, 2}}) {
    INFO(row.what);
    const Recasts made = recast_all(row.left, row.right);
    CHECK(made.pairs.size() == row.left.size());
    CHECK(made.sliced == row.sliced);
  }
}

TEST_CASE("numbers that are not known are said, of either side") {
  const std::vector<Held> whole = {{"w", {4, 2}, {{{"p", "q"}, "concat(axis)"}}}};
  const std::vector<Held> parts = {{"p", {2, 2}, {{{"p"}}}}, {"q", {2, 2}, {{{"q"}}}}};
  CHECK(recast_all(whole, parts).unknown == std::set<std::string>{"axis"});
  CHECK(recast_all(parts, whole).unknown == std::set<std::string>{"axis"});
  CHECK(recast_all(parts, parts).unknown.empty());
}

TEST_CASE("a map of too many boxes meets nothing, on either side") {
  const std::int64_t heads = (std::int64_t{1} << 18) + 1;
  const std::string op =
      "qkv_interleave(" + std::to_string(heads) + "," + std::to_string(heads) + ",1)";
  const std::vector<Held> fused = {{"w", {3 * heads}, {{{"q", "k", "v"}, op}, {{"w"}}}}};
  std::vector<Held> parts;
  for (const char* name : {"q", "k", "v"}) parts.push_back({name, {heads}, {{{name}}}});
  CHECK(met(parts, fused).empty());
  parts.push_back({"w", {3 * heads}, {{{"w"}}}});
  CHECK(met(fused, parts) == Words{"w-w"});
}

TEST_CASE("a side is read as a million parts, of which the last tensor may have more") {
  const std::vector<Held> one = {{"t", {2}, {{{"t"}}}}};
  for (const std::size_t more : {0U, 1U}) {
    const Words many((std::size_t{1} << 20) + more, "x");
    const std::vector<Held> two = {{"many", {2}, {{many, "concat(0)"}}}, one[0]};
    CHECK(recast_all(one, two).pairs.size() == 1 - more);
    CHECK(recast_all(two, one).pairs.size() == 1 - more);
  }
}

}  // namespace
}  // namespace ttcheck::align
