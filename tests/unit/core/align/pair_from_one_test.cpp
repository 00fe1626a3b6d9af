// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_from_one.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

/// Names, and what each holds: a letter (other letters, other values), `'` behind it: trained on;
/// nothing: one value all over; `?`: it cannot be read.
using Held = std::map<std::string, std::string>;

constexpr std::size_t kCount = 64;

std::optional<std::vector<double>> values_of(const std::string& what) {
  if (what == "?") return std::nullopt;
  std::vector<double> values(kCount, 1);
  if (what.empty()) return values;
  std::uint64_t state = static_cast<unsigned char>(what.front());
  for (std::size_t i = 0; i < kCount; ++i) {
    for (int turn = 0; turn < 4; ++turn)
      state = state * 6364136223846793005U + 1442695040888963407U;
    values[i] = static_cast<double>(state >> 33) / static_cast<double>(1U << 30) - 1;
    if (what.back() == '\'') values[i] += i % 2 == 0 ? 0.1 : -0.1;
  }
  return values;
}

/// The pairs that are made, `left right` each.
std::vector<std::string> met(const Held& left, const Held& right) {
  std::vector<Tensor> reference, candidate;
  const Shape shape = {8, 8};
  for (const auto& [name, what] : left) reference.push_back(tests::named_tensor(name, shape));
  for (const auto& [name, what] : right) candidate.push_back(tests::named_tensor(name, shape));
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  pair_from_one(bench, [&](const Tensor& tensor, std::int64_t begin, std::int64_t count) {
    CHECK(begin == 0);
    CHECK(count == kCount);
    const bool own = &tensor >= reference.data() && &tensor < reference.data() + reference.size();
    return values_of((own ? left : right).at(tensor.identity.name));
  });
  std::vector<std::string> pairs;
  for (const PairIndex& pair : bench.done.pairs) {
    CHECK(pair.rule == "layers counted from 1");
    pairs.push_back(reference[pair.reference].identity.name + " " +
                    candidate[pair.candidate].identity.name);
  }
  return pairs;
}

using Pairs = std::vector<std::string>;

const Held kFromZero = {{"l.0.w", "a"}, {"l.1.w", "b"}, {"l.2.w", "c"}, {"embed", "e"}};

TEST_CASE("layers counted from 1 meet those counted from 0, whichever side it is") {
  const Held from_one = {{"l.1.w", "a"}, {"l.2.w", "b"}, {"l.3.w", "c"}, {"embed", "e"}};
  CHECK(met(kFromZero, from_one) == Pairs{"l.0.w l.1.w", "l.1.w l.2.w", "l.2.w l.3.w"});
  CHECK(met(from_one, kFromZero) == Pairs{"l.1.w l.0.w", "l.2.w l.1.w", "l.3.w l.2.w"});
}

TEST_CASE("they may be trained on, one of them lost, and stand behind model.") {
  CHECK(met(kFromZero, {{"l.1.w", "a'"}, {"l.2.w", "b'"}, {"l.3.w", "c'"}}).size() == 3);
  CHECK(met(kFromZero, {{"l.1.w", "a'"}, {"l.2.w", "b'"}, {"l.3.w", "x"}}).size() == 3);
  CHECK(met(kFromZero, {{"model.l.1.w", "a"}, {"model.l.2.w", "b"}, {"model.l.3.w", "c"}}).size() ==
        3);
  CHECK(met({{"l.0.w", "a"}}, {{"l.1.w", "a'"}}).size() == 1);
}

TEST_CASE("names of another beginning are told by themselves") {
  const Held zero = {{"e.0.w", "a"}, {"e.1.w", "b"}, {"d.0.w", "c"}, {"d.1.w", "d"}};
  CHECK(met(zero, {{"e.1.w", "a"}, {"e.2.w", "b"}, {"d.0.w", "c"}, {"d.1.w", "d"}}) ==
        Pairs{"e.0.w e.1.w", "e.1.w e.2.w"});
  CHECK(met(zero, {{"e.1.w", "a"}, {"e.2.w", "b"}, {"d.1.w", "c"}, {"d.2.w", "d"}}).size() == 4);
}

TEST_CASE("no proof: the same numbers, a layer more, the same numbers' values, others, none") {
  CHECK(met(kFromZero, kFromZero).empty());
  CHECK(met(kFromZero, {{"l.1.w", "a"}, {"l.2.w", "b"}}).empty());
  CHECK(met(kFromZero, {{"l.1.w", "b"}, {"l.2.w", "c"}, {"l.3.w", "d"}}).empty());
  CHECK(met(kFromZero, {{"l.1.w", "b'"}, {"l.2.w", "c'"}, {"l.3.w", "d"}}).empty());
  CHECK(met(kFromZero, {{"l.1.w", "p"}, {"l.2.w", "q"}, {"l.3.w", "r"}}).empty());
  CHECK(met(kFromZero, {{"l.1.w", "?"}, {"l.2.w", "?"}, {"l.3.w", "?"}}).empty());
  CHECK(met({{"l.0.w", ""}, {"l.1.w", ""}}, {{"l.1.w", ""}, {"l.2.w", ""}}).empty());
  CHECK(met({{"l.0.w", "a"}, {"l.1.w", "a"}}, {{"l.1.w", "a"}, {"l.2.w", "a"}}).empty());
}

}  // namespace
}  // namespace ttcheck::align
