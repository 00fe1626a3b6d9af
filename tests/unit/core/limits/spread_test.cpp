// SPDX-License-Identifier: Apache-2.0
#include "core/limits/spread.hpp"

#include <doctest/doctest.h>

namespace ttcheck::limits {
namespace {

Tensor record(const std::string& name, Phase phase, std::int32_t microbatch = 0) {
  Tensor made;
  made.identity = {name, phase, microbatch, 0};
  made.dtype = DType::bf16;
  made.shape = {4};
  return made;
}

TEST_CASE("samples of one tensor come together, whatever the micro-batch; phases stay apart") {
  Spread spread;
  spread.add(record("a/output.0", Phase::forward), {0.25, 0, 0.5});
  spread.add(record("a/output.0", Phase::forward, 1), {0.125, 0.75, 0.25});
  spread.add(record("a/output.0", Phase::backward), {0, 0, 0});
  spread.add(record("a/output.0", Phase::forward), {0.5, 0, 0});
  const auto entries = spread.entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].match == "a/output.0");
  CHECK(entries[0].phase == Phase::forward);
  CHECK(entries[0].d == 0.5);
  CHECK(entries[0].row == 0.75);
  CHECK(entries[0].outlier == 0.5);
  CHECK(entries[0].samples == 3);
  CHECK(entries[0].p50 == 0.25);
  CHECK(entries[0].p90 == 0.5);
  CHECK(entries[0].eps == 0.0078125);
  CHECK(entries[1].d == 0);
  CHECK(!entries[1].p50);
}

TEST_CASE("quantiles are values that were seen, by nearest rank") {
  CHECK(quantile({5}, 0.5) == 5);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2);
  CHECK(quantile({4, 1, 3, 2}, 0.9) == 4);
  CHECK(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9) == 9);
}

TEST_CASE("names come back from the file as themselves, and as near as text can be") {
  for (const std::string name : {"a*b{c}\\d", "plain.name", "\"quoted\"\n\t", "\xc3\xa9"}) {
    Spread spread;
    spread.add(record(name, Phase::forward), {0.5, 0, 0});
    LimitsFile file;
    file.entries = spread.entries();
    const LimitsFile back = parse_limits(print_limits(file), "l.toml");
    CHECK(back.entry_for({name, Phase::forward, 0, 0}) != nullptr);
    CHECK(back.entry_for({"x" + name, Phase::forward, 0, 0}) == nullptr);
  }
  Spread spread;
  spread.add(record("a\xff\xfe.b", Phase::forward), {0.5, 0, 0});
  CHECK(spread.entries()[0].match == "a*.b");
}

TEST_CASE("beyond the model: how often its limit fits into what was measured") {
  Spread spread;
  spread.add(record("a", Phase::forward), {0.75, 0, 0});
  CHECK(beyond_model(spread.rows()[0], spread.context()) ==
        doctest::Approx(0.75 / (3 * 0.0078125)));
}

}  // namespace
}  // namespace ttcheck::limits
