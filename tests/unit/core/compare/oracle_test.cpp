// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/compare/measure.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::compare {
namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Reads words one by one: integers, and doubles as hexadecimal text.
struct Words {
  std::istream& in;
  std::int64_t integer() {
    std::int64_t value = 0;
    in >> value;
    return value;
  }
  double real() {
    std::string word;
    in >> word;
    return std::strtod(word.c_str(), nullptr);
  }
};

bool near(double a, double b) { return a == b || std::fabs(a - b) <= 1e-6 * std::fabs(b); }

TEST_CASE("metrics of hard pairs are those that NumPy computes") {
  std::ifstream lines(tests::project_file("tests/data/metrics.txt"));
  REQUIRE(lines);
  std::string word, dtype, a, b;
  std::int64_t count = 0;
  int cases = 0;
  while (lines >> word >> dtype >> count >> a >> b) {
    for (const Kernels* isa : usable_kernels()) {
      const std::ifstream::pos_type here = lines.tellg();
      Words expected{lines};
      CAPTURE(dtype);
      CAPTURE(isa->name);
      const DType type = dtype_named(dtype).value();
      auto bytes_a = from_hex(a);
      auto bytes_b = from_hex(b);
      Rule rule = rule_for(type, type, false);
      rule.isa = isa;
      const auto scratch = make_scratch();
      const Metrics m = measure(rule, 0, count, bytes_a, bytes_b, {}, *scratch);
      CHECK(m.count == expected.integer());
      CHECK(m.unequal_bits == expected.integer());
      CHECK(m.unequal_values == expected.integer());
      CHECK(m.beyond_close == expected.integer());
      CHECK(near(m.max_abs, expected.real()));
      CHECK(m.max_abs_index == expected.integer());
      CHECK(near(m.sum_d2, expected.real()));
      CHECK(near(m.sum_a2, expected.real()));
      CHECK(near(m.sum_b2, expected.real()));
      for (const NonFinite* side : {&m.reference, &m.candidate}) {
        CHECK(side->nan == expected.integer());
        CHECK(side->plus_inf == expected.integer());
        CHECK(side->minus_inf == expected.integer());
      }
      CHECK(m.non_finite_disagree == expected.integer());
      CHECK(m.non_finite_index == expected.integer());
      if (isa != usable_kernels().back()) lines.seekg(here);
      ++cases;
    }
  }
  CHECK(cases == 12 * static_cast<int>(usable_kernels().size()));
}

}  // namespace
}  // namespace ttcheck::compare
