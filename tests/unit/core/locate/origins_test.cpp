// SPDX-License-Identifier: Apache-2.0
#include "core/locate/origins.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace ttcheck::locate {
namespace {

struct Trace {
  std::vector<TensorResult> results;

  std::size_t add(std::string name, Kind kind, Outcome outcome,
                  std::vector<std::string> inputs = {}, Phase phase = Phase::forward) {
    TensorResult result;
    result.identity = {std::move(name), phase, 0, 0};
    result.kind = kind;
    result.by_limit = outcome;
    auto record = std::make_shared<TraceRecord>();
    record->inputs = std::move(inputs);
    result.trace = std::move(record);
    results.push_back(std::move(result));
    return results.size() - 1;
  }
};

constexpr Outcome kBad = Outcome::diverged;

TEST_CASE("an op whose inputs are fine introduces its error, those behind it inherit") {
  Trace trace;
  trace.add("a/output.0", Kind::output, Outcome::noise);
  const auto root = trace.add("b/output.0", Kind::output, kBad, {"a/output.0"});
  const auto next = trace.add("c/output.0", Kind::output, kBad, {"a/output.0", "b/output.0"});
  const auto last = trace.add("d/output.0", Kind::output, kBad, {"forward:c/output.0"});
  const auto origins = origins_of(trace.results);
  CHECK(origins[root].introduced == true);
  CHECK(origins[root].root == root);
  CHECK(origins[next].introduced == false);
  CHECK(origins[next].root == root);
  CHECK(origins[last].root == root);
}

TEST_CASE("two errors at once are two roots") {
  Trace trace;
  trace.add("a/output.0", Kind::output, Outcome::equal);
  const auto one = trace.add("b/output.0", Kind::output, kBad, {"a/output.0"});
  trace.add("c/output.0", Kind::output, Outcome::noise, {"a/output.0"});
  const auto two = trace.add("d/output.0", Kind::output, kBad, {"c/output.0"});
  const auto origins = origins_of(trace.results);
  CHECK(origins[one].root == one);
  CHECK(origins[two].introduced == true);
  CHECK(origins[two].root == two);
}

TEST_CASE("without names of inputs, what went into the module is its input") {
  Trace trace;
  trace.add("m/input.0", Kind::input, Outcome::noise);
  const auto made = trace.add("m/output.0", Kind::output, kBad);
  const auto passed = trace.add("n/input.0", Kind::input, kBad);
  const auto on = trace.add("n/output.0", Kind::output, kBad);
  trace.results[on].trace = nullptr;
  const auto back = trace.add("n/grad_output.0", Kind::grad_output, kBad, {}, Phase::backward);
  const auto gradient = trace.add("n/grad.weight", Kind::grad, kBad, {}, Phase::backward);
  const auto origins = origins_of(trace.results);
  CHECK(origins[made].introduced == true);
  CHECK_FALSE(origins[passed].introduced);
  CHECK(origins[on].introduced == false);
  CHECK(origins[on].root == passed);
  CHECK_FALSE(origins[back].introduced);
  CHECK(origins[gradient].introduced == false);
}

TEST_CASE("an input is the output before it that has its norms") {
  Trace trace;
  trace.add("a/input.0", Kind::input, Outcome::equal);
  const auto made = trace.add("a/output.0", Kind::output, kBad);
  trace.results[made].metrics.sum_d2 = 0.5;
  const auto passed = trace.add("b/input.0", Kind::input, kBad);
  trace.results[passed].metrics.sum_d2 = 0.5;
  const auto other = trace.add("c/input.0", Kind::input, kBad);
  trace.results[other].metrics.sum_d2 = 0.25;
  const auto origins = origins_of(trace.results);
  CHECK(origins[passed].introduced == false);
  CHECK(origins[passed].root == made);
  CHECK_FALSE(origins[other].introduced);
}

TEST_CASE("an error that was diluted below its limit is still inherited, and passed on") {
  Trace trace;
  const auto measured = [&](std::size_t i, double rel) {
    trace.results[i].limit.kind = LimitKind::measured;
    trace.results[i].limit.measured = 0.01;
    trace.results[i].limit.rel = 0.05;
    trace.results[i].metrics.sum_a2 = 1;
    trace.results[i].metrics.sum_d2 = rel * rel;
  };
  const auto above = trace.add("z/output.0", Kind::output, Outcome::noise);
  const auto root = trace.add("a/output.0", Kind::output, kBad, {"z/output.0"});
  const auto low = trace.add("b/output.0", Kind::output, Outcome::noise, {"a/output.0"});
  const auto diluted = trace.add("c/output.0", Kind::output, Outcome::noise, {"a/output.0"});
  const auto after = trace.add("d/output.0", Kind::output, kBad, {"c/output.0"});
  const auto fresh = trace.add("e/output.0", Kind::output, kBad, {"b/output.0"});
  measured(above, 0.04);
  measured(low, 0.015);
  measured(diluted, 0.04);
  const auto origins = origins_of(trace.results);
  CHECK(!origins[above].introduced);
  CHECK(origins[root].introduced == true);
  CHECK(!origins[low].introduced);
  CHECK(origins[diluted].introduced == false);
  CHECK(origins[diluted].root == root);
  CHECK(origins[after].introduced == false);
  CHECK(origins[after].root == root);
  CHECK(origins[fresh].introduced == true);
}

TEST_CASE("what was not recorded, or came later, says nothing") {
  Trace trace;
  const auto first = trace.add("a/output.0", Kind::output, kBad, {"b/output.0", "gone/output.0"});
  trace.add("b/output.0", Kind::output, kBad);
  CHECK_FALSE(origins_of(trace.results)[first].introduced);
}

TEST_CASE("what was recomputed counts more than what went in") {
  Trace trace;
  const auto first = trace.add("a/output.0", Kind::output, kBad);
  const auto right = trace.add("b/output.0", Kind::output, kBad, {"a/output.0"});
  const auto wrong = trace.add("c/output.0", Kind::output, kBad, {"b/output.0"});
  const auto after = trace.add("d/output.0", Kind::output, kBad, {"c/output.0"});
  const auto alone = trace.add("e/output.0", Kind::output, kBad, {"f/output.0"});
  const auto back = trace.add("c/grad_output.0", Kind::grad_output, kBad, {}, Phase::backward);
  std::vector<recompute::Recomputed> recomputed(trace.results.size());
  recomputed[right].state = recomputed[alone].state = recompute::Recomputed::State::right;
  recomputed[wrong].state = recompute::Recomputed::State::wrong;
  recomputed[back].state = recompute::Recomputed::State::right;
  recomputed[back].inputs = {Identity{"gone/output.0", Phase::forward, 0, 0},
                             trace.results[after].identity};
  const auto origins = origins_of(trace.results, recomputed);
  CHECK(origins[right].introduced == false);
  CHECK(origins[right].root == first);
  CHECK(origins[wrong].introduced == true);
  CHECK(origins[wrong].root == wrong);
  CHECK(origins[after].root == wrong);
  CHECK(origins[alone].introduced == false);
  CHECK(origins[alone].root == alone);
  CHECK(origins[back].introduced == false);
  CHECK(origins[back].root == wrong);
}

TEST_CASE("more than twice what was measured, and within the limit, is raised") {
  struct Row {
    const char* what;
    double rel;
    LimitKind kind;
    bool inherited;
  };
  const Row rows[] = {
      {"twice", 0.0199, LimitKind::measured, false},
      {"more", 0.0201, LimitKind::measured, true},
      {"up to the limit", 0.0499, LimitKind::measured, true},
      {"beyond it, by a test of its own", 0.0501, LimitKind::measured, false},
      {"of a model nothing was measured", 0.04, LimitKind::model, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Trace trace;
    trace.add("a/output.0", Kind::output, kBad);
    const auto next = trace.add("b/output.0", Kind::output, Outcome::noise, {"a/output.0"});
    TensorResult& result = trace.results[next];
    result.limit.kind = row.kind;
    result.limit.measured = 0.01;
    result.limit.rel = 0.05;
    result.metrics.sum_a2 = 1;
    result.metrics.sum_d2 = row.rel * row.rel;
    CHECK(origins_of(trace.results)[next].introduced.has_value() == row.inherited);
    result.by_limit = Outcome::equal;
    CHECK_FALSE(origins_of(trace.results)[next].introduced);
  }
}

TEST_CASE("inputs are told by phase and name") {
  using Told = std::pair<Phase, std::string_view>;
  CHECK(input_identity("backward:m/grad_output.0") == Told{Phase::backward, "m/grad_output.0"});
  CHECK(input_identity("m/output.0") == Told{Phase::none, "m/output.0"});
  CHECK(input_identity("aten:mm/output.0") == Told{Phase::none, "aten:mm/output.0"});
  Trace trace;
  trace.add("a/output.0", Kind::output, Outcome::equal);
  trace.add("a/output.0", Kind::output, kBad, {}, Phase::backward);
  const auto first = trace.add("b/output.0", Kind::output, kBad, {"forward:a/output.0"});
  const auto other = trace.add("c/output.0", Kind::output, kBad, {"backward:a/output.0"});
  const auto any = trace.add("d/output.0", Kind::output, kBad, {"a/output.0"});
  const auto origins = origins_of(trace.results);
  CHECK(origins[first].introduced == true);
  CHECK(origins[other].introduced == false);
  CHECK(origins[any].introduced == false);
}

TEST_CASE("what went into a module counts for the same phase, micro-batch and call") {
  struct Row {
    const char* what;
    Identity output;
    bool told;
  };
  const Row rows[] = {
      {"its own", {"m/output.0", Phase::forward, 0, 0}, true},
      {"of another phase", {"m/output.0", Phase::loss, 0, 0}, false},
      {"of another micro-batch", {"m/output.0", Phase::forward, 1, 0}, false},
      {"of another call", {"m/output.0", Phase::forward, 0, 1}, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Trace trace;
    trace.add("m/input.0", Kind::input, kBad);
    const auto made = trace.add("m/output.0", Kind::output, kBad);
    trace.results[made].identity = row.output;
    const auto origins = origins_of(trace.results);
    CHECK(origins[made].introduced.has_value() == row.told);
    CHECK(origins[made].root == (row.told ? 0U : made));
  }
}

TEST_CASE("what repeats a wrong collective passes it on, though it be wrong") {
  Trace trace;
  const auto first = trace.add("a/comm_out.0", Kind::comm_out, kBad);
  const auto same = trace.add("m/output.0", Kind::output, kBad);
  const auto other = trace.add("n/output.0", Kind::output, kBad);
  std::vector<recompute::Recomputed> recomputed(trace.results.size());
  recomputed[same].state = recomputed[other].state = recompute::Recomputed::State::wrong;
  recomputed[same].repeats = trace.results[first].identity;
  recomputed[other].repeats = Identity{"gone/comm_out.0", Phase::forward, 0, 0};
  const auto origins = origins_of(trace.results, recomputed);
  CHECK(origins[same].introduced == false);
  CHECK(origins[same].root == first);
  CHECK(origins[other].introduced == true);
  CHECK(origins[other].root == other);
}

}  // namespace
}  // namespace ttcheck::locate
