// SPDX-License-Identifier: Apache-2.0
// `append` member by member: no member of Metrics can be added, or its merging left out, unnoticed.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/model/metrics.hpp"

namespace ttcheck {
namespace {

using Parts = std::vector<Metrics>;

/// A part with something in each member; `n` makes it unlike the others.
Metrics part_of(int n) {
  Metrics part;
  // Named one by one, so that a member that is added does not compile until it is here.
  auto& [count, unequal_bits, unequal_values, beyond_close, max_abs, max_abs_index, max_rel,
         max_rel_index, max_quotient, max_quotient_index, sum_d2, sum_a2, sum_b2, taken_out,
         max_block_d2, reference, candidate, non_finite_disagree, non_finite_index,
         reference_constant, constant_bits, rounds_to_candidate, rounds_to_reference] = part;
  count = 1000 + n;
  unequal_bits = 100 + n;
  unequal_values = 200 + n;
  beyond_close = 300 + n;
  max_abs = 4.0 + n;
  max_abs_index = 10'000 * n + 1;
  max_rel = 5.0 + n;
  max_rel_index = 10'000 * n + 2;
  max_quotient = 6.0 + n;
  max_quotient_index = 10'000 * n + 3;
  sum_d2 = 0.25 * (n + 1);
  sum_a2 = 0.5 * (n + 2);
  sum_b2 = 0.75 * (n + 3);
  taken_out = 400 + n;
  max_block_d2 = 0.125 * (n + 1);
  reference = {11 + n, 12 + n, 13 + n};
  candidate = {21 + n, 22 + n, 23 + n};
  non_finite_disagree = 500 + n;
  non_finite_index = 10'000 * n + 4;
  reference_constant = true;
  constant_bits = {7, 8};
  rounds_to_candidate = rounds_to_reference = true;
  return part;
}

Metrics appended(const Parts& parts) {
  Metrics sum;
  for (const Metrics& part : parts) append(sum, part);
  return sum;
}

template <class Member>
auto total(const Parts& parts, Member member) {
  decltype(member(parts[0])) sum{};
  for (const Metrics& part : parts) sum += member(part);
  return sum;
}

template <class Member>
auto largest(const Parts& parts, Member member) {
  auto best = member(parts[0]);
  for (const Metrics& part : parts) best = std::max(best, member(part));
  return best;
}

#define TTCHECK_SUM(member) \
  CHECK(sum.member == total(parts, [](const Metrics& part) { return part.member; }))
#define TTCHECK_MOST(member) \
  CHECK(sum.member == largest(parts, [](const Metrics& part) { return part.member; }))

TEST_CASE("each member of k parts is their sum, their largest, or the first of them") {
  for (const int k : {1, 2, 3, 7}) {
    for (const bool rising : {true, false}) {
      Parts parts;
      for (int n = 0; n < k; ++n) parts.push_back(part_of(rising ? n : k - n));
      const Metrics sum = appended(parts);
      CAPTURE(k);
      CAPTURE(rising);
      TTCHECK_SUM(count);
      TTCHECK_SUM(unequal_bits);
      TTCHECK_SUM(unequal_values);
      TTCHECK_SUM(beyond_close);
      TTCHECK_SUM(sum_d2);
      TTCHECK_SUM(sum_a2);
      TTCHECK_SUM(sum_b2);
      TTCHECK_SUM(taken_out);
      TTCHECK_SUM(non_finite_disagree);
      for (auto side : {&Metrics::reference, &Metrics::candidate}) {
        for (auto of : {&NonFinite::nan, &NonFinite::plus_inf, &NonFinite::minus_inf}) {
          CHECK((sum.*side).*of ==
                total(parts, [&](const Metrics& part) { return (part.*side).*of; }));
        }
      }
      TTCHECK_MOST(max_block_d2);
      TTCHECK_MOST(max_abs);
      TTCHECK_MOST(max_rel);
      TTCHECK_MOST(max_quotient);
      const Metrics& peak = rising ? parts.back() : parts.front();
      CHECK(sum.max_abs_index == peak.max_abs_index);
      CHECK(sum.max_rel_index == peak.max_rel_index);
      CHECK(sum.max_quotient_index == peak.max_quotient_index);
      CHECK(sum.non_finite_index == parts.front().non_finite_index);
      CHECK(sum.reference_constant);
      CHECK(sum.constant_bits == parts.front().constant_bits);
      CHECK(sum.rounds_to_candidate);
      CHECK(sum.rounds_to_reference);
    }
  }
}

#undef TTCHECK_SUM
#undef TTCHECK_MOST

TEST_CASE("a part that alone has something gives it, wherever it comes") {
  struct Row {
    const char* what;
    void (*set)(Metrics& part);
  };
  const Row rows[] = {
      {"largest difference",
       [](Metrics& part) {
         part.max_abs = 2;
         part.max_abs_index = 77;
       }},
      {"largest relative difference",
       [](Metrics& part) {
         part.max_rel = 0.5;
         part.max_rel_index = 78;
       }},
      {"largest quotient",
       [](Metrics& part) {
         part.max_quotient = 3;
         part.max_quotient_index = 79;
       }},
      {"first place that is not finite", [](Metrics& part) { part.non_finite_index = 80; }},
      {"reference not constant", [](Metrics& part) { part.reference_constant = false; }},
      {"not the reference rounded", [](Metrics& part) { part.rounds_to_candidate = false; }},
      {"not the candidate rounded", [](Metrics& part) { part.rounds_to_reference = false; }},
      {"worst block", [](Metrics& part) { part.max_block_d2 = 9; }},
  };
  Metrics plain;
  plain.count = 10;
  plain.constant_bits = {3, 0};
  plain.rounds_to_candidate = plain.rounds_to_reference = true;
  for (const Row& row : rows) {
    for (const std::size_t k : {1U, 2U, 3U, 7U}) {
      for (std::size_t at = 0; at < k; ++at) {
        Parts parts(k, plain);
        row.set(parts[at]);
        Metrics expected = plain;
        row.set(expected);
        expected.count = 10 * static_cast<std::int64_t>(k);
        CAPTURE(row.what);
        CAPTURE(k);
        CAPTURE(at);
        CHECK(appended(parts) == expected);
      }
    }
  }
}

TEST_CASE("of equal peaks the first counts") {
  Parts parts(3, part_of(0));
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const auto at = static_cast<std::int64_t>(1 + n);
    parts[n].max_abs_index = parts[n].max_rel_index = parts[n].max_quotient_index = at;
  }
  const Metrics sum = appended(parts);
  CHECK(sum.max_abs_index == 1);
  CHECK(sum.max_rel_index == 1);
  CHECK(sum.max_quotient_index == 1);
}

TEST_CASE("parts that are constant each, with other bits, are not constant together") {
  for (const auto& bits : {std::array<std::uint64_t, 2>{9, 8}, {7, 9}}) {
    Parts parts(2, part_of(0));
    parts[1].constant_bits = bits;
    CHECK_FALSE(appended(parts).reference_constant);
  }
}

TEST_CASE("a part without elements changes nothing, before or behind") {
  const Metrics part = part_of(3);
  CHECK(appended({Metrics{}, part}) == part);
  CHECK(appended({part, Metrics{}}) == part);
  CHECK(appended({Metrics{}, Metrics{}}) == Metrics{});
  Metrics emptied = part_of(5);  // a range that was left out whole
  emptied.count = 0;
  CHECK(appended({part, emptied}) == part);
  CHECK(appended({emptied, part}) == part);
}

}  // namespace
}  // namespace ttcheck
