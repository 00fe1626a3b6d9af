// SPDX-License-Identifier: Apache-2.0
#include "core/align/bench.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ttcheck::align {
namespace {

using Indices = std::vector<std::size_t>;
using Pairs = std::vector<std::tuple<std::size_t, std::size_t, std::string>>;

std::vector<Tensor> named(const std::vector<std::string>& names) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) tensors.emplace_back().identity.name = name;
  return tensors;
}

/// Two sides, all of them alone.
struct Table {
  std::vector<Tensor> reference, candidate;
  Bench bench;

  Table(const std::vector<std::string>& left, const std::vector<std::string>& right)
      : reference(named(left)), candidate(named(right)) {
    bench.reference = reference;
    bench.candidate = candidate;
    for (std::size_t i = 0; i < left.size(); ++i) bench.left.push_back(i);
    for (std::size_t j = 0; j < right.size(); ++j) bench.right.push_back(j);
  }

  Pairs pairs() const {
    Pairs all;
    for (const PairIndex& pair : bench.done.pairs) {
      all.emplace_back(pair.reference, pair.candidate, pair.rule);
      CHECK(pair.rescaling == nullptr);
    }
    return all;
  }
};

TEST_CASE("keys hold what must agree beside the name") {
  struct Row {
    std::string what;
    Identity a, b;
    bool alike;
  };
  const std::vector<Row> rows = {
      {"one name", {"a"}, {"b"}, true},  // the name that is given is what counts
      {"a phase and none", {"a", Phase::forward}, {"a"}, false},
      {"two phases", {"a", Phase::forward}, {"a", Phase::backward}, false},
      {"two micro-batches", {"a", Phase::forward, 0}, {"a", Phase::forward, 1}, false},
      {"two calls", {"a", Phase::forward, 0, 0}, {"a", Phase::forward, 0, 1}, false},
      {"a call for a micro-batch", {"a", Phase::forward, 1, 2}, {"a", Phase::forward, 2, 1}, false},
      {"the same", {"a", Phase::forward, 2, 1}, {"b", Phase::forward, 2, 1}, true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Tensor a, b;
    a.identity = row.a;
    b.identity = row.b;
    CHECK((keyed(a, "n") == keyed(b, "n")) == row.alike);
    CHECK(keyed(a, "n") != keyed(a, "m"));
    CHECK_FALSE(keyed(a, "").empty());
  }
}

TEST_CASE("pairs by a key that is there once on each side") {
  struct Row {
    std::string what;
    std::vector<std::string> left, right;
    Pairs pairs;
    Indices alone_left, alone_right;
  };
  // The key is what stands before a dot.
  const std::vector<Row> rows = {
      {"nothing", {}, {}, {}, {}, {}},
      {"one", {"a.1"}, {"a.2"}, {{0, 0, "rule"}}, {}, {}},
      {"none in common", {"a"}, {"b"}, {}, {0}, {0}},
      {"crossed", {"a", "b"}, {"b", "a"}, {{0, 1, "rule"}, {1, 0, "rule"}}, {}, {}},
      {"twice on the left", {"a.1", "b", "a.2"}, {"a", "b"}, {{1, 1, "rule"}}, {0, 2}, {0}},
      {"twice on the right", {"b", "a"}, {"a.1", "a.2", "b"}, {{0, 2, "rule"}}, {1}, {0, 1}},
      {"three times on the right", {"a"}, {"a.1", "a.2", "a.3"}, {}, {0}, {0, 1, 2}},
      {"without a key", {".1", "a"}, {".1", "a"}, {{1, 1, "rule"}}, {0}, {0}},
      {"twice without a key", {"", "", "a"}, {"a", ""}, {{2, 0, "rule"}}, {0, 1}, {1}},
  };
  const KeyOf key = [](const Tensor& tensor) {
    return tensor.identity.name.substr(0, tensor.identity.name.find('.'));
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Table table(row.left, row.right);
    pair_by(table.bench, "rule", key, key);
    CHECK(table.pairs() == row.pairs);
    CHECK(table.bench.left == row.alone_left);
    CHECK(table.bench.right == row.alone_right);
  }
}

TEST_CASE("each side has a key of its own, and only what is alone is looked at") {
  Table table({"a", "b", "c"}, {"xa", "xb", "xc"});
  table.bench.left = {2, 0};
  table.bench.right = {0, 1};
  pair_by(
      table.bench, "x", [](const Tensor& tensor) { return tensor.identity.name; },
      [](const Tensor& tensor) { return tensor.identity.name.substr(1); });
  CHECK(table.pairs() == Pairs{{0, 0, "x"}});
  CHECK(table.bench.left == Indices{2});
  CHECK(table.bench.right == Indices{1});
}

TEST_CASE("equal identities are pairs") {
  struct Row {
    std::string what;
    std::vector<std::string> left, right;
    Pairs pairs;  ///< in order of the reference
    Indices alone_left, alone_right;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, {}, {}, {}, {}},
      {"in one order", {"a", "b"}, {"a", "b"}, {{0, 0, "same"}, {1, 1, "same"}}, {}, {}},
      {"in another", {"a", "b"}, {"b", "a"}, {{0, 1, "same"}, {1, 0, "same"}}, {}, {}},
      {"one alone on the left", {"x", "a"}, {"a"}, {{1, 0, "same"}}, {0}, {}},
      {"one alone on the right", {"a"}, {"x", "a"}, {{0, 1, "same"}}, {}, {0}},
      {"one alone on each",
       {"a", "x", "b"},
       {"a", "y", "b"},
       {{0, 0, "same"}, {2, 2, "same"}},
       {1},
       {1}},
      {"the longer side behind", {"a"}, {"a", "b", "c"}, {{0, 0, "same"}}, {}, {1, 2}},
      {"the reference longer", {"a", "b", "c"}, {"c"}, {{2, 0, "same"}}, {0, 1}, {}},
      {"without a name", {""}, {""}, {{0, 0, "same"}}, {}, {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Table table(row.left, row.right);
    pair_same(table.bench);
    Pairs pairs = table.pairs();
    std::ranges::sort(pairs);
    CHECK(pairs == row.pairs);
    CHECK(table.bench.left == row.alone_left);
    CHECK(table.bench.right == row.alone_right);
  }
}

TEST_CASE("another phase, micro-batch or call is another identity") {
  for (const Identity& other : {Identity{"a", Phase::forward}, Identity{"a", Phase::none, 1},
                                Identity{"a", Phase::none, 0, 1}}) {
    Table table({"a"}, {"a"});
    table.candidate[0].identity = other;
    pair_same(table.bench);
    CHECK(table.bench.done.pairs.empty());
    table.reference[0].identity = other;
    pair_same(table.bench);
    CHECK(table.bench.done.pairs.size() == 1);
  }
}

TEST_CASE("what is excluded is counted under its rule") {
  struct Row {
    std::string out;
    Indices left, right;
    std::int64_t count;
  };
  const std::vector<Row> rows = {
      {"a", {1}, {0}, 3},
      {"b", {0}, {0, 1, 2}, 1},
      {"c", {0, 1}, {1, 2}, 1},
      {"d", {0, 1}, {0, 1, 2}, 0},
  };
  for (const Row& row : rows) {
    INFO(row.out);
    Table table({"a", "b"}, {"c", "a", "a"});
    exclude(table.bench, "out " + row.out,
            [&](const Tensor& tensor) { return tensor.identity.name == row.out; });
    CHECK(table.bench.left == row.left);
    CHECK(table.bench.right == row.right);
    std::vector<std::pair<std::string, std::int64_t>> counted;
    if (row.count > 0) counted.emplace_back("out " + row.out, row.count);
    CHECK(table.bench.done.excluded_by == counted);
  }
}

}  // namespace
}  // namespace ttcheck::align
