// SPDX-License-Identifier: Apache-2.0
#include "core/explain/precision.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

struct Row {
  const char* what;
  std::vector<double> reference, candidate;
  std::string to = {};  ///< empty: no explanation
  double penalty = 3;
  DType dtype = DType::f32;
};

/// 1 + i / 2^bits for odd i: numbers of that many bits, and no fewer.
std::vector<double> of_bits(int bits, std::size_t count = 8) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(1 + std::ldexp(static_cast<double>(2 * i + 1), -bits));
  }
  return values;
}

std::vector<double> plus(std::vector<double> values, double by) {
  for (double& value : values) value += by;
  return values;
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate, 0, row.dtype,
                           row.dtype);
    const auto found = precision(pair.subject, pair.seen());
    REQUIRE(found.has_value() == !row.to.empty());
    if (!found) continue;
    CHECK(found->code == Code::precision);
    CHECK(found->hypothesis.name == "cast");
    CHECK(tests::parameter_of<std::string>(*found, "to") == row.to);
    CHECK(tests::parameter_of<std::string>(*found, "from") == std::string(name(row.dtype)));
    CHECK(found->penalty == row.penalty);
    CHECK(found->hypothesis.residual == 0);
    const std::string kind = row.penalty == 3 ? "all of the candidate's values are numbers of "
                                              : "most of the candidate's values are sums of a few "
                                                "numbers of ";
    CHECK(found->words == kind + row.to + ", stored as " + std::string(name(row.dtype)) +
                              "; not so the reference's");
  }
}

TEST_CASE("numbers of a coarser type, where the reference's are of a finer") {
  std::vector<double> one_off = of_bits(7);
  one_off[3] = 1 + 0x1p-8;
  std::vector<double> lost = of_bits(7);
  lost[0] = std::numeric_limits<double>::quiet_NaN();
  const auto fine = of_bits(20);
  check({
      {"bf16", plus(of_bits(7), 0x1p-20), of_bits(7), "bf16"},
      {"f16", plus(of_bits(10), 0x1p-20), of_bits(10), "f16"},
      {"finer than that", plus(of_bits(11), 0x1p-20), of_bits(11)},
      {"one that is finer", plus(one_off, 0x1p-20), one_off, "f16"},
      {"the reference's have three bits more", plus(of_bits(7), 0x1p-10), of_bits(7), "bf16"},
      {"or two", plus(of_bits(7), 0x1p-9), of_bits(7)},
      {"seven numbers", plus(of_bits(7, 7), 0x1p-20), of_bits(7, 7)},
      {"a number that was lost", plus(of_bits(7), 0x1p-20), lost},
      {"16 units off", plus(of_bits(7), 0.11 + 0x1p-20), of_bits(7), "bf16"},
      {"more than that", plus(of_bits(7), 0.17 + 0x1p-20), of_bits(7)},
      {"bf16 itself", plus(of_bits(5), 0x1p-7), of_bits(5), "", 3, DType::bf16},
      {"f16 is three bits finer than bf16", plus(of_bits(7), 0x1p-10), of_bits(7), "bf16", 3,
       DType::f16},
      {"doubles", plus(of_bits(7), 0x1p-40), of_bits(7), "bf16", 3, DType::f64},
  });
}

TEST_CASE("sums of a few numbers of a coarser type") {
  // Most have up to six bits beyond the grid's seven, the reference's three more than that.
  const double unit = 0x1p-7;
  const auto most = [](int bits, std::size_t finer) {
    std::vector<double> values = of_bits(bits);
    for (std::size_t i = 0; i < finer; ++i) values[i] = 1 + 0x1p-20;
    return values;
  };
  // Off by so much and by a number of so many bits.
  const auto off = [](const std::vector<double>& values, double by, int bits) {
    return plus(values, by + std::ldexp(1, -bits));
  };
  const auto thirteen = of_bits(13);
  check({
      {"six bits beyond it", off(thirteen, unit, 16), thirteen, "bf16", 4},
      {"of five of eight", off(thirteen, unit, 16), most(13, 3), "bf16", 4},
      {"of four", off(thirteen, unit, 20), most(13, 4)},
      {"seven", off(of_bits(14), unit, 19), of_bits(14), "f16", 4},
      {"six beyond that of f16", off(of_bits(16), unit, 19), of_bits(16), "f16", 4},
      {"and seven", off(of_bits(17), unit, 20), of_bits(17)},
      {"the reference's are as coarse", off(thirteen, unit, 15), thirteen},
      {"a 16th of a unit off", off(thirteen, 0x1.02p-11, 18), thirteen, "bf16", 4},
      {"less, but of a finer grid", off(thirteen, 0x1.fp-12, 20), thirteen, "f16", 4},
      {"less of any", off(thirteen, 0x1p-15, 20), thirteen},
      {"16 units off", off(thirteen, 15 * unit, 16), thirteen, "bf16", 4},
      {"more than that", off(thirteen, 32 * unit, 16), thirteen},
      {"f16 has no room for them", off(of_bits(8), unit, 10), of_bits(8), "", 4, DType::f16},
  });
}

}  // namespace
}  // namespace ttcheck::explain
