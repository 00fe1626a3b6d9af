// SPDX-License-Identifier: Apache-2.0
#include "core/locate/preconditions.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace ttcheck::locate {
namespace {

struct Said {
  std::string name;
  Phase phase = Phase::forward;
  Kind kind = Kind::input;
  DType dtype = DType::i64;
  Outcome outcome = Outcome::diverged;
  std::string op = {};
  double cosine = 0.5;
};

TensorResult result_of(const Said& said) {
  TensorResult made;
  made.identity = {said.name, said.phase, 0, 0};
  made.kind = said.kind;
  made.dtype = said.dtype;
  made.by_limit = said.outcome;
  made.metrics.count = 100;
  made.metrics.sum_a2 = made.metrics.sum_b2 = 100;
  made.metrics.sum_d2 = 200 * (1 - said.cosine);
  if (said.op.empty()) return made;
  auto trace = std::make_shared<TraceRecord>();
  trace->op = said.op;
  made.trace = std::move(trace);
  return made;
}

struct Row {
  const char* what;
  std::vector<Said> results;
  std::vector<FactResult> facts;
  std::string reason;  ///< empty: nothing fails
  Code code;
  std::size_t record = 0;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<TensorResult> results;
    for (const Said& said : row.results) results.push_back(result_of(said));
    const auto failed = failed_precondition(results, row.facts);
    REQUIRE(failed.has_value() == !row.reason.empty());
    if (!failed) continue;
    CHECK(failed->reason == row.reason);
    CHECK(failed->code == row.code);
    CHECK(failed->record == row.record);
    CHECK(failed->message.empty());
  }
}

TEST_CASE("initial parameters fail where most of them diverged") {
  const auto weight = [](Outcome outcome, Phase phase = Phase::state, Kind kind = Kind::weight) {
    return Said{"m/param.w", phase, kind, DType::f32, outcome};
  };
  const Said same = weight(Outcome::equal), other = weight(Outcome::diverged);
  const std::string differ = "initial parameters differ";
  const Code code = Code::diverged;
  check({
      {"none is there", {}, {}, "", code},
      {"one of two", {same, other}, {}, "", code},
      {"two of three: the first is named", {same, other, other}, {}, differ, code, 1},
      {"noise is none", {weight(Outcome::noise), weight(Outcome::noise)}, {}, "", code},
      {"what the optimizer made is not initial",
       {weight(Outcome::diverged, Phase::optimizer)},
       {},
       "",
       code},
      {"nor are its moments parameters",
       {same, weight(Outcome::diverged, Phase::state, Kind::moment1),
        weight(Outcome::diverged, Phase::state, Kind::moment1)},
       {},
       "",
       code},
  });
}

TEST_CASE("the batch fails by ids, labels or tokens that diverged") {
  const std::string differs = "the batch differs";
  const Code code = Code::data_replay;
  const Said masked{"mask/input.0", Phase::forward, Kind::input, DType::f32, Outcome::equal};
  const Said looked{"wte/output.0", Phase::forward, Kind::output, DType::f32, Outcome::equal};
  const auto made = [](std::string name, Kind kind = Kind::output, DType dtype = DType::i64,
                       Outcome outcome = Outcome::diverged) {
    return Said{std::move(name), Phase::forward, kind, dtype, outcome};
  };
  check({
      {"what the first module took in", {{"m/input.0"}}, {}, differs, code, 0},
      {"its other input", {masked, {"mask/input.1"}}, {}, differs, code, 1},
      {"numbers that are no ids",
       {{"m/input.0", Phase::forward, Kind::input, DType::f32}},
       {},
       "",
       code},
      {"ids that are the same",
       {{"m/input.0", Phase::forward, Kind::input, DType::i64, Outcome::equal}},
       {},
       "",
       code},
      {"what it put out", {made("m/output.0")}, {}, "", code},
      {"what a later module took in", {masked, {"moe/input.0"}}, {}, "", code},
      {"of the first embedding, by its name", {masked, {"m.embed/input.0"}}, {}, differs, code, 1},
      {"by its op", {masked, {.name = "lookup/input.0", .op = "embedding"}}, {}, differs, code, 1},
      {"by another op", {masked, {.name = "lookup/input.0", .op = "linear"}}, {}, "", code},
      {"of a second embedding", {masked, looked, {"position_embed/input.0"}}, {}, "", code},
      {"labels of the loss", {masked, {"loss/input.1", Phase::loss}}, {}, differs, code, 1},
      {"a loss is no first module",
       {{"loss/output.0", Phase::loss, Kind::output}, {"m/input.0"}},
       {},
       differs,
       code,
       1},
      {"nor an embedding",
       {masked, {"embed_loss/output.0", Phase::loss, Kind::output}, {"wte/input.0"}},
       {},
       differs,
       code,
       2},
      {"what comes back", {{"m/input.0", Phase::backward}}, {}, "", code},
      {"tokens", {masked, made("step/tokens")}, {}, differs, code, 1},
      {"token ids", {masked, made("batch.token_ids/output.0")}, {}, differs, code, 1},
      {"input ids", {masked, made("rank=input_ids")}, {}, differs, code, 1},
      {"the first of two", {masked, made("tokens"), made("input_ids")}, {}, differs, code, 1},
      {"a name that only has the word", {masked, made("tokens_seen/output.0")}, {}, "", code},
      {"as an input", {masked, made("router.tokens/input.0", Kind::input)}, {}, "", code},
      {"as real numbers", {masked, made("tokens", Kind::output, DType::f32)}, {}, "", code},
      {"the same ones",
       {masked, made("tokens", Kind::output, DType::i64, Outcome::equal)},
       {},
       "",
       code},
  });
}

FactResult fact(std::string name, const FactValue& a, const FactValue& b) {
  return {std::move(name), a, b, a == b ? "equal" : "differs"};
}

TEST_CASE("random numbers fail where dropout is on, by their states or by what it put out") {
  const FactResult on = fact("model.dropout", 0.1, 0.1), whole = fact("hidden_dropout", 1L, 1L);
  const FactResult state = fact("rng.cpu", "a", "b");
  const auto dropped = [](std::string name, Kind kind = Kind::output, double cosine = 0.5) {
    return Said{.name = std::move(name), .kind = kind, .dtype = DType::f32, .cosine = cosine};
  };
  const Said masks = dropped("m.attn_drop/output.0"), linear = dropped("m.fc/output.0");
  const Said before{"m.fc/output.0", Phase::forward, Kind::output, DType::f32, Outcome::noise};
  const Said back{"m.dropout/grad_input.0", Phase::backward, Kind::grad_input, DType::f32};
  const std::string states = "the random state differs", other = "the dropout masks differ";
  const Code code = Code::rng_seam;
  check({
      {"masks", {before, masks}, {on}, other, code, 1},
      {"of a dropout by name", {dropped("hidden_dropout/output.0")}, {on}, other, code},
      {"as it is called", {dropped("m.dropout.0/output.0")}, {on}, "", code},
      {"what is in it", {dropped("dropout.fc/output.0")}, {on}, "", code},
      {"a name that goes on", {dropped("m.droplet/output.0")}, {on}, "", code},
      {"by op",
       {{.name = "x/output.0", .kind = Kind::output, .dtype = DType::f32, .op = "dropout"}},
       {on},
       other,
       code},
      {"another op",
       {{.name = "x/output.0", .kind = Kind::output, .dtype = DType::f32, .op = "linear"}},
       {on},
       "",
       code},
      {"what it took in", {dropped("m.attn_drop/input.0", Kind::input)}, {on}, "", code},
      {"a multiple of it", {dropped("m.drop/output.0", Kind::output, 1)}, {on}, "", code},
      {"a likeness of 0.985", {dropped("m.drop/output.0", Kind::output, 0.985)}, {on}, other, code},
      {"of 0.995", {dropped("m.drop/output.0", Kind::output, 0.995)}, {on}, "", code},
      {"something before it", {linear, masks}, {on}, "", code},
      {"what comes back", {back}, {on}, "", code},
      {"nothing", {before}, {on, state}, "", code},
      {"stated as a whole number", {masks}, {whole}, other, code},
      {"off", {masks}, {fact("dropout", 0L, 0L)}, "", code},
      {"off on one side", {masks}, {fact("dropout", 0.1, 0.0)}, "", code},
      {"on the other", {masks}, {fact("dropout", 0.0, 0.1)}, "", code},
      {"stated on one side",
       {masks},
       {{"dropout", FactValue(0.1), {}, "only-reference"}},
       "",
       code},
      {"stated in words", {masks}, {fact("dropout", "on", "on")}, "", code},
      {"no statement", {masks}, {fact("model.layers", 4L, 4L)}, "", code},
      {"states, whatever diverged", {before, linear}, {on, state}, states, code, 1},
      {"stated in either order", {linear}, {state, on}, states, code},
      {"states without dropout", {linear}, {state}, "", code},
      {"the same states", {linear}, {on, fact("rng.cpu", "a", "a")}, "", code},
      {"another state", {linear}, {on, fact("data.rng", "a", "b")}, "", code},
      {"states, of what comes back", {back}, {on, state}, "", code},
  });
}

TEST_CASE("models of another depth, width or attention: the first fact that says so") {
  CHECK_FALSE(other_model({}));
  const std::vector<FactResult> alike = {fact("model.layers", 4L, 4L),
                                         fact("model.norm_eps", 1e-5, 1e-6)};
  CHECK_FALSE(other_model(alike));
  const std::vector<FactResult> flavour = {fact("model.kv_heads", 8L, 2L)};
  CHECK(other_model(flavour) == "the models differ: model.kv_heads is 8 and 2");
  const std::vector<FactResult> both = {fact("model.hidden", 64L, 128L),
                                        fact("model.layers", 4L, 6L)};
  CHECK(other_model(both) == "the models differ: model.layers is 4 and 6");
  std::vector<FactResult> assumed = flavour;
  assumed[0].assumed = "candidate";
  CHECK_FALSE(other_model(assumed));
  const std::vector<FactResult> one = {
      {"model.layers", FactValue(std::int64_t{4}), {}, "only-reference"}};
  CHECK_FALSE(other_model(one));
}

}  // namespace
}  // namespace ttcheck::locate
