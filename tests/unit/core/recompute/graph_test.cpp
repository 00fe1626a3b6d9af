// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/graph.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace ttcheck::recompute {
namespace {

/// What a test says of one record; its name tells its kind and, but for sync and stated calls, its
/// phase.
struct Recorded {
  std::string name;
  std::string op = {};
  std::vector<std::string> inputs = {};
  std::int32_t microbatch = 0, call = 0;
  std::int64_t seq = -1;  ///< -1: its place in the list
  std::string owner = {};
  std::optional<OpCall> stated = {};
  std::int32_t rank = kNoRank;
  bool traced = true;
  std::optional<Phase> phase = {};  ///< none: what its name tells
};

struct KindOfName {
  std::string_view word;
  Kind kind;
  Phase phase;
};
constexpr KindOfName kKindsOfNames[] = {
    {"input", Kind::input, Phase::forward},
    {"output", Kind::output, Phase::forward},
    {"loss", Kind::loss, Phase::loss},
    {"param", Kind::weight, Phase::state},
    {"grad_input", Kind::grad_input, Phase::backward},
    {"grad_output", Kind::grad_output, Phase::backward},
    {"grad", Kind::grad, Phase::backward},
    {"main_grad", Kind::main_grad, Phase::sync},
};

Tensor tensor_of_record(const Recorded& record, std::int64_t place) {
  Tensor tensor;
  tensor.identity = {record.name, Phase::none, record.microbatch, record.call};
  const std::size_t slash = record.name.find('/');
  const std::string word = record.name.substr(slash + 1, record.name.find('.', slash) - slash - 1);
  for (const KindOfName& one : kKindsOfNames) {
    if (one.word != word) continue;
    tensor.kind = one.kind;
    tensor.identity.phase = one.phase;
  }
  if (record.phase) tensor.identity.phase = *record.phase;
  if (record.rank != kNoRank) tensor.pieces.emplace_back().rank = record.rank;
  if (!record.traced) return tensor;
  auto trace = std::make_shared<TraceRecord>();
  trace->op = record.op;
  trace->inputs = record.inputs;
  trace->seq = record.seq < 0 ? place : record.seq;
  trace->owner = record.owner;
  trace->call = record.stated;
  tensor.trace = std::move(trace);
  return tensor;
}

/// "x", "x#2" for the call, "x@1" for the micro-batch, "-" for none.
std::string words_of(const Tensor* tensor) {
  if (tensor == nullptr) return "-";
  std::string words = tensor->identity.name;
  if (tensor->identity.call != 0) words += fmt::format("#{}", tensor->identity.call);
  if (tensor->identity.microbatch != 0) words += fmt::format("@{}", tensor->identity.microbatch);
  if (!tensor->pieces.empty()) words += fmt::format("!{}", tensor->pieces.front().rank);
  return words;
}

std::string words_of(const Maker& maker) {
  constexpr const char* kParts[] = {"output", "argument", "weight", "bias"};
  std::string words = fmt::format("{} {} of {}:", kParts[static_cast<std::size_t>(maker.part)],
                                  maker.slot, words_of(maker.record));
  for (const Tensor* one : maker.arguments) words += " " + words_of(one);
  if (maker.weight != nullptr) words += " w=" + words_of(maker.weight);
  if (maker.bias != nullptr) words += " b=" + words_of(maker.bias);
  for (const Tensor* one : maker.gradients) words += " g=" + words_of(one);
  return words;
}

struct Row {
  const char* what;
  std::vector<Recorded> records;  ///< the last one is asked for
  std::vector<std::string> makers;
};

void check(const std::vector<Row>& rows, const Parameters& earlier = {}) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<Tensor> tensors;
    for (const Recorded& one : row.records) {
      tensors.push_back(tensor_of_record(one, std::ssize(tensors)));
    }
    std::vector<std::string> found;
    for (const Maker& maker : Graph(tensors, earlier, 2).makers_of(tensors.back())) {
      found.push_back(words_of(maker));
    }
    CHECK(found == row.makers);
  }
}

TEST_CASE("the call of an output, and what went into it") {
  check({
      {"what went into the module, and its parameters",
       {{"m/param.weight"}, {"m/param.bias"}, {"m/input.0"}, {"m/output.0", "linear"}},
       {"output 0 of m/output.0: m/input.0 w=m/param.weight b=m/param.bias"}},
      {"an argument that was not recorded",
       {{"m/input.1"}, {"m/output.1", "add"}},
       {"output 1 of m/output.1: - m/input.1"}},
      {"of 16 arguments the last",
       {{"m/input.15"}, {"m/output.0", "add"}},
       {"output 0 of m/output.0: - - - - - - - - - - - - - - - m/input.15"}},
      {"a 17th is not one", {{"m/input.16"}, {"m/output.0", "add"}}, {"output 0 of m/output.0:"}},
      {"what it states goes where nothing was recorded",
       {{"a/output.0"},
        {"b/output.0"},
        {"m/input.0"},
        {"m/output.0", "add", {"m/input.0", "a/output.0", "b/output.0"}}},
       {"output 0 of m/output.0: m/input.0 a/output.0 b/output.0"}},
      {"one that is not there keeps its place",
       {{"b/output.0"}, {"m/output.0", "add", {"a/output.0", "b/output.0"}}},
       {"output 0 of m/output.0: - b/output.0"}},
      {"stated parameters count, of whatever module",
       {{"m/param.weight"},
        {"e/param.weight"},
        {"e/param.bias"},
        {"e/param.gain"},
        {"m/input.0"},
        {"m/output.0", "linear", {"e/param.weight", "e/param.bias", "e/param.gain"}}},
       {"output 0 of m/output.0: m/input.0 w=e/param.weight b=e/param.bias"}},
      {"inputs of the same call alone",
       {{.name = "m/input.0", .call = 1}, {"m/input.0"}, {.name = "m/output.0", .op = "silu"}},
       {"output 0 of m/output.0: m/input.0"}},
      {"and of the same micro-batch",
       {{"m/input.0"}, {.name = "m/output.0", .op = "silu", .microbatch = 1}},
       {"output 0 of m/output.0@1:"}},
      {"a loss, into which went nothing of its own phase",
       {{"m/input.0"}, {"m/loss.total", "cross_entropy"}},
       {"output 0 of m/loss.total:"}},
      {"a loss has one, whatever its number",
       {{"m/loss.1", "cross_entropy"}},
       {"output 0 of m/loss.1:"}},
      {"of a module within another",
       {{"l.0/input.0"}, {"l.0/output.1", "add"}},
       {"output 1 of l.0/output.1: l.0/input.0"}},
      {"the first parameter that is a state",
       {{.name = "m/param.weight", .call = 1, .phase = Phase::optimizer},
        {"m/param.weight"},
        {"m/output.0", "linear"}},
       {"output 0 of m/output.0: w=m/param.weight"}},
      {"a parameter of no module is an argument",
       {{"param.weight"}, {"m/output.0", "linear", {"param.weight"}}},
       {"output 0 of m/output.0: -"}},
      {"what is made in another phase",
       {{"m/input.0"}, {.name = "m/output.0", .op = "silu", .phase = Phase::optimizer}},
       {}},
      {"no op is told", {{"m/input.0"}, {"m/output.0"}}, {}},
      {"an output of no number", {{"m/input.0"}, {"m/output.x", "silu"}}, {}},
      {"of half a number", {{"m/input.0"}, {"m/output.0x", "silu"}}, {}},
      {"of a number that is too large", {{"m/input.0"}, {"m/output.16", "silu"}}, {}},
      {"nothing is known of the record",
       {{"m/input.0"}, {.name = "m/output.0", .op = "silu", .traced = false}},
       {}},
  });
}

TEST_CASE("of 17 stated arguments the first 16 count") {
  Row row{"", {{"m/output.0", "add", {}}}, {"output 0 of m/output.0:"}};
  for (int n = 0; n < 17; ++n) {
    row.records[0].inputs.push_back(fmt::format("a{}/output.0", n));
    if (n < 16) row.makers[0] += " -";
  }
  check({row});
}

TEST_CASE("a stated value is the latest before its user, or the only one") {
  check({
      {"in whatever order they stand",
       {{.name = "a/output.0", .call = 1, .seq = 1},
        {.name = "a/output.0", .seq = 0},
        {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: a/output.0#1"}},
      {"the latest before",
       {{"a/output.0"}, {.name = "a/output.0", .call = 1}, {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: a/output.0#1"}},
      {"whatever comes behind it",
       {{"a/output.0"},
        {.name = "a/output.0", .call = 1, .seq = 9},
        {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: a/output.0"}},
      {"at the same place is not before",
       {{"a/output.0"},
        {.name = "a/output.0", .call = 1, .seq = 2},
        {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: a/output.0"}},
      {"the only one, though it counts later",
       {{.name = "a/output.0", .seq = 9}, {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: a/output.0"}},
      {"of two that count later none",
       {{.name = "a/output.0", .seq = 9},
        {.name = "a/output.0", .call = 1, .seq = 10},
        {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: -"}},
      {"no gradient",
       {{"a/grad_output.0"}, {"m/output.0", "silu", {"a/grad_output.0"}}},
       {"output 0 of m/output.0: -"}},
      {"but where its phase is stated",
       {{"a/grad_output.0"}, {"m/output.0", "silu", {"backward:a/grad_output.0"}}},
       {"output 0 of m/output.0: a/grad_output.0"}},
      {"a loss flows, too",
       {{"a/loss.0"}, {"m/output.0", "silu", {"a/loss.0"}}},
       {"output 0 of m/output.0: a/loss.0"}},
      {"not what it makes itself",
       {{"m/output.0", "silu", {"m/output.0"}}},
       {"output 0 of m/output.0: -"}},
      {"nor what is not known",
       {{.name = "a/output.0", .traced = false}, {"m/output.0", "silu", {"a/output.0"}}},
       {"output 0 of m/output.0: -"}},
  });
  for (const int alike : {256, 257}) {
    Row row{"very many of one name are not looked through", {}, {"output 0 of m/output.0: -"}};
    for (int n = 0; n < alike; ++n) row.records.push_back({.name = "a/output.0", .call = n});
    row.records.push_back({"m/output.0", "silu", {"a/output.0"}});
    if (alike == 256) row.makers = {"output 0 of m/output.0: a/output.0#255"};
    check({row});
  }
}

TEST_CASE("a gradient comes from all calls that consumed its value") {
  const Recorded a{"a/output.0", "silu"};
  const Recorded b{"b/output.0", "silu", {"a/output.0"}};
  const Recorded c{"c/output.0", "add", {"x/output.0", "a/output.0"}};
  check({
      {"one after the other, in order",
       {a, b, c, {"c/grad_output.0"}, {"b/grad_output.0"}, {"a/grad_output.0"}},
       {"argument 0 of b/output.0: a/output.0 g=b/grad_output.0",
        "argument 1 of c/output.0: - a/output.0 g=c/grad_output.0"}},
      {"outputs of one call count once",
       {a, b, {"b/output.1", "silu", {"a/output.0"}}, {"b/grad_output.1"}, {"a/grad_output.0"}},
       {"argument 0 of b/output.0: a/output.0 g=- g=b/grad_output.1"}},
      {"of another micro-batch are others",
       {a, b, {.name = "a/grad_output.0", .microbatch = 1}},
       {}},
      {"of 8 outputs the last",
       {a, b, {"b/grad_output.7"}, {"a/grad_output.0"}},
       {"argument 0 of b/output.0: a/output.0 g=- g=- g=- g=- g=- g=- g=- g=b/grad_output.7"}},
      {"a ninth is none",
       {a, b, {"b/grad_output.8"}, {"a/grad_output.0"}},
       {"argument 0 of b/output.0: a/output.0"}},
      {"two of one gradient are none",
       {a, b, {"b/grad_output.0"}, {.name = "b/grad_output.0", .call = 1}, {"a/grad_output.0"}},
       {"argument 0 of b/output.0: a/output.0"}},
      {"nothing consumed it", {a, {"a/grad_output.0"}}, {}},
      {"it was not recorded", {b, {"a/grad_output.0"}}, {}},
      {"two of that value",
       {a, {.name = "a/output.0", .op = "silu", .call = 1}, b, {"a/grad_output.0"}},
       {}},
      {"a call that is stated tells of itself alone",
       {a,
        {.name = "b/output.0",
         .op = "silu",
         .inputs = {"a/output.0"},
         .stated = OpCall{OpPart::output, 0, {}, "", "", {}}},
        {"a/grad_output.0"}},
       {}},
      {"in another phase", {a, b, {.name = "a/grad_output.0", .phase = Phase::sync}}, {}},
      {"what has no op consumed nothing it tells",
       {a, {"b/output.0", "", {"a/output.0"}}, {"a/grad_output.0"}},
       {}},
  });
  for (const int consumers : {64, 65}) {
    std::vector<Recorded> records = {a};
    for (int n = 0; n < consumers; ++n) {
      records.push_back({fmt::format("b{}/output.0", n), "silu", {"a/output.0"}});
    }
    records.push_back({"a/grad_output.0"});
    std::vector<Tensor> tensors;
    for (const Recorded& one : records)
      tensors.push_back(tensor_of_record(one, std::ssize(tensors)));
    const auto makers = Graph(tensors, {}, 1).makers_of(tensors.back());
    CHECK(makers.size() == (consumers == 64 ? 64U : 0U));
  }
}

TEST_CASE("the gradient of an argument comes from the module's own call") {
  const Recorded input{"m/input.0"}, output{"m/output.0", "silu"}, given{"m/grad_output.0"};
  check({
      {"of its first output",
       {input, output, given, {"m/grad_input.0"}},
       {"argument 0 of m/output.0: m/input.0 g=m/grad_output.0"}},
      {"by its place",
       {input, output, {"m/grad_input.3"}},
       {"argument 3 of m/output.0: m/input.0"}},
      {"of a loss",
       {{"m/loss.0", "cross_entropy"}, {"m/grad_input.0"}},
       {"argument 0 of m/loss.0:"}},
      {"or the second",
       {{"m/loss.1", "cross_entropy"}, {"m/grad_input.0"}},
       {"argument 0 of m/loss.1:"}},
      {"an output before a loss",
       {{"m/loss.0", "cross_entropy"}, output, {"m/grad_input.0"}},
       {"argument 0 of m/output.0:"}},
      {"of no op", {input, {"m/output.0"}, {"m/grad_input.0"}}, {}},
      {"of no number", {input, output, {"m/grad_input.x"}}, {}},
      {"in another phase", {input, output, {.name = "m/grad_input.0", .phase = Phase::sync}}, {}},
      {"of no output", {input, {"m/grad_input.0"}}, {}},
  });
}

TEST_CASE("the gradient of a parameter comes from its users") {
  const Recorded weight{"m/param.weight"}, bias{"m/param.bias"}, input{"m/input.0"};
  const Recorded output{"m/output.0", "linear"}, given{"m/grad_output.0"};
  const Recorded tied{"t/output.0", "linear", {"m/param.weight"}};
  const std::string own = "of m/output.0: m/input.0 w=m/param.weight";
  check({
      {"of a weight, all of them",
       {weight, input, output, tied, given, {"m/grad.weight"}},
       {"weight 0 " + own + " g=m/grad_output.0", "weight 0 of t/output.0: w=m/param.weight"}},
      {"of a bias",
       {weight, bias, input, output, given, {"m/grad.bias"}},
       {"bias 0 " + own + " b=m/param.bias g=m/grad_output.0"}},
      {"by its owner",
       {weight, input, output, {.name = "x/grad.0", .owner = "m.weight"}},
       {"weight 0 " + own}},
      {"an owner of one word is none",
       {weight, input, output, {.name = "m/grad.weight", .owner = "weight"}},
       {"weight 0 " + own}},
      {"of the sum over micro-batches",
       {weight,
        input,
        output,
        {.name = "m/output.0", .op = "linear", .microbatch = 1},
        {"m/main_grad.weight"}},
       {"weight 0 " + own, "weight 0 of m/output.0@1: w=m/param.weight"}},
      {"which says nothing where each was recorded",
       {weight, input, output, {"m/grad.weight"}, {"m/main_grad.weight"}},
       {}},
      {"of the sum, by its owner",
       {weight, input, output, {.name = "ddp/main_grad.0", .owner = "m.weight"}},
       {"weight 0 " + own}},
      {"whose owner's gradient was recorded",
       {weight, input, output, {"m/grad.weight"}, {.name = "ddp/main_grad.0", .owner = "m.weight"}},
       {}},
      {"whose owner's gradient was recorded by its owner, too",
       {weight,
        input,
        output,
        {.name = "x/grad.7", .owner = "m.weight"},
        {.name = "ddp/main_grad.0", .owner = "m.weight"}},
       {}},
      {"of one micro-batch alone",
       {weight,
        input,
        output,
        {.name = "m/output.0", .op = "linear", .microbatch = 1},
        {.name = "m/grad.weight", .microbatch = 1}},
       {"weight 0 of m/output.0@1: w=m/param.weight"}},
      {"that nobody uses", {weight, {"m/grad.weight"}}, {}},
      {"in another phase",
       {weight, input, output, {.name = "m/grad.weight", .phase = Phase::sync}},
       {}},
      {"a sum before it is one",
       {weight, input, output, {.name = "m/main_grad.weight", .phase = Phase::backward}},
       {}},
      {"inputs and parameters are made by nothing", {weight, output, input}, {}},
  });
  for (const int users : {64, 65}) {
    std::vector<Tensor> tensors = {tensor_of_record(weight, 0)};
    for (int n = 0; n < users; ++n) {
      tensors.push_back(tensor_of_record(
          {fmt::format("b{}/output.0", n), "linear", {"m/param.weight"}}, std::ssize(tensors)));
    }
    tensors.push_back(tensor_of_record({"m/grad.weight"}, std::ssize(tensors)));
    CHECK(Graph(tensors, {}, 1).makers_of(tensors.back()).size() == (users == 64 ? 64U : 0U));
  }
  Parameters earlier;
  Earlier& left = earlier["m/param.weight"];
  left.tensor.identity = {"m/param.weight", Phase::optimizer, 0, 0};
  left.step = 1;
  check({{"as the step before left it", {input, output}, {"output 0 " + own}},
         {"and its gradient", {input, output, {"m/grad.weight"}}, {"weight 0 " + own}}},
        earlier);
  const std::string without = own.substr(0, own.find(" w="));
  left.step = 0;
  check({{"an update lies between", {input, output}, {"output 0 " + without}}}, earlier);
  left = {{}, 1};
  left.tensor.identity = {"m/param.weight", Phase::state, 0, 0};
  check({{"what the step before found, it updated", {input, output}, {"output 0 " + without}}},
        earlier);
}

TEST_CASE("a call that the format states is taken at its word") {
  const OpCall call{OpPart::argument, 1, {"a", "", "b"}, "w", "c", {"g"}};
  check({
      {"by the names of records, whatever is not there",
       {{"a"}, {"b"}, {"w"}, {"c"}, {"g"}, {.name = "x", .op = "linear", .stated = call}},
       {"argument 1 of x: a - b w=w b=c g=g"}},
      {"of the same rank and call",
       {{.name = "a", .rank = 0},
        {.name = "a", .call = 1, .rank = 1},
        {.name = "a", .rank = 1},
        {.name = "x",
         .op = "silu",
         .stated = OpCall{OpPart::output, 0, {"a"}, "", "", {}},
         .rank = 1}},
       {"output 0 of x!1: a!1"}},
      {"or the only one of its name",
       {{.name = "a", .rank = 0},
        {.name = "x",
         .op = "silu",
         .stated = OpCall{OpPart::output, 0, {"a"}, "", "", {}},
         .rank = 1}},
       {"output 0 of x!1: a!0"}},
      {"none of several of other ranks",
       {{.name = "a", .rank = 0},
        {.name = "a", .rank = 2},
        {.name = "x",
         .op = "silu",
         .stated = OpCall{OpPart::output, 0, {"a"}, "", "", {}},
         .rank = 1}},
       {"output 0 of x!1: -"}},
  });
}

}  // namespace
}  // namespace ttcheck::recompute
