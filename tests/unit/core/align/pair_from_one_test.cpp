#include "core/align/pair_from_one.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using Names = std::vector<std::string>;
using Held = std::map<std::string, std::string>;

/// How many pairs are made of names that hold these values; no value: it is constant.
std::size_t met(const Held& left, const Held& right) {
  std::vector<Tensor> reference, candidate;
  for (const auto& [name, value] : left) reference.push_back(tests::named_tensor(name));
  for (const auto& [name, value] : right) candidate.push_back(tests::named_tensor(name));
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  pair_from_one(bench, [&](const Tensor& tensor, std::int64_t, std::int64_t) {
    const bool own = &tensor >= reference.data() && &tensor < reference.data() + reference.size();
    const std::string& value = (own ? left : right).at(tensor.identity.name);
    return std::optional(Content{value, value.empty()});
  });
  for (const PairIndex& pair : bench.done.pairs) {
    CHECK(left.at(reference[pair.reference].identity.name) ==
          right.at(candidate[pair.candidate].identity.name));
    CHECK(pair.rule == "layers counted from 1");
  }
  return bench.done.pairs.size();
}

const Held kFromZero = {{"l.0.w", "a"}, {"l.1.w", "b"}, {"l.2.w", "c"}, {"embed", "e"}};

TEST_CASE("layers counted from 1 meet those counted from 0, whichever side it is") {
  const Held from_one = {{"l.1.w", "a"}, {"l.2.w", "b"}, {"l.3.w", "c"}, {"embed", "e"}};
  CHECK(met(kFromZero, from_one) == 3);
  CHECK(met(from_one, kFromZero) == 3);
}

TEST_CASE("no proof: the same numbers, a layer more, other values, constants") {
  CHECK(met(kFromZero, kFromZero) == 0);
  CHECK(met(kFromZero, {{"l.1.w", "a"}, {"l.2.w", "b"}}) == 0);
  CHECK(met(kFromZero, {{"l.1.w", "b"}, {"l.2.w", "c"}, {"l.3.w", "d"}}) == 0);
  CHECK(met(kFromZero, {{"l.1.w", "a"}, {"l.2.w", "b"}, {"l.3.w", "x"}}) == 0);
  CHECK(met({{"l.0.w", ""}, {"l.1.w", ""}}, {{"l.1.w", ""}, {"l.2.w", ""}}) == 0);
  CHECK(met({{"l.0.w", "a"}, {"l.1.w", "a"}}, {{"l.1.w", "a"}, {"l.2.w", "a"}}) == 0);
}

}  // namespace
}  // namespace ttcheck::align
