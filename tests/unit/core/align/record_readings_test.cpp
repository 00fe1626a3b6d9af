// SPDX-License-Identifier: Apache-2.0
#include "core/align/record_readings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/align/align.hpp"
#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::align {
namespace {

using tests::ArraySource;

const ArraySource& counted() {
  static const ArraySource source = [] {
    std::vector<float> values(1 << 12);
    std::iota(values.begin(), values.end(), 0.0F);
    return ArraySource::of(values);
  }();
  return source;
}

Tensor record(const std::string& name, Phase phase, Kind kind, Shape shape) {
  Tensor made = tests::tensor_of(counted(), DType::f32, std::move(shape));
  made.identity = {name, phase, 0, 0};
  made.kind = kind;
  return made;
}

/// What a training does with a projection of 6 channels to `out`, for 2 rows of 3 tokens.
void add_module(std::vector<Tensor>& run, const std::string& module, std::int64_t out) {
  run.push_back(record(module + "/param.weight", Phase::state, Kind::weight, {out, 6}));
  run.push_back(record(module + "/input.0", Phase::forward, Kind::input, {2, 3, 6}));
  run.push_back(record(module + "/output.0", Phase::forward, Kind::output, {2, 3, out}));
  run.push_back(record(module + "/grad_output.0", Phase::backward, Kind::grad_output, {2, 3, out}));
  run.push_back(record(module + "/grad_input.0", Phase::backward, Kind::grad_input, {2, 3, 6}));
  run.push_back(record(module + "/grad.weight", Phase::backward, Kind::grad, {out, 6}));
  run.push_back(record(module + "/moment2.weight", Phase::optimizer, Kind::moment2, {out, 6}));
}

std::vector<Tensor> fused(const std::string& module = "layers.0.self_attn.qkv_proj") {
  std::vector<Tensor> run;
  add_module(run, module, 16);
  return run;
}

std::vector<Tensor> split(const std::string& end = "_proj") {
  std::vector<Tensor> run;
  add_module(run, "layers.0.self_attn.q" + end, 8);
  add_module(run, "layers.0.self_attn.k" + end, 4);
  add_module(run, "layers.0.self_attn.v" + end, 4);
  return run;
}

const Numbers kNumbers = {{"heads", 4}, {"kv_heads", 2}, {"head_dim", 2}};

const PairIndex* pair_of(const Alignment& done, std::span<const Tensor> reference,
                         const std::string& name) {
  for (const PairIndex& pair : done.pairs) {
    if (reference[pair.reference].identity.name == name) return &pair;
  }
  return nullptr;
}

TEST_CASE("records of a fused projection meet those of its parts, either way round") {
  const auto whole = fused();
  auto parts = split();
  const Alignment done = align(whole, parts, {}, kNumbers);
  CHECK(done.pairs.size() == 5 + 3);  // the input meets that of each part
  CHECK(done.only_reference.empty());
  CHECK(done.only_candidate.empty());
  REQUIRE(done.excluded_by.size() == 1);
  CHECK(done.excluded_by[0].first == "grad_input of fused modules");
  CHECK(done.excluded_by[0].second == 4);
  const PairIndex* output = pair_of(done, whole, "layers.0.self_attn.qkv_proj/output.0");
  REQUIRE(output != nullptr);
  CHECK(parts[output->candidate].identity.name ==
        "layers.0.self_attn.{q_proj,k_proj,v_proj}/output.0");
  CHECK(parts[output->candidate].shape == Shape{2, 3, 16});
  CHECK(parts[output->candidate].kind == Kind::output);

  const auto reference = split();
  auto candidate = fused();
  const Alignment back = align(reference, candidate, {}, kNumbers);
  CHECK(back.pairs.size() == 3 * 6);
  CHECK(back.only_reference.empty());
  CHECK(back.only_candidate.empty());
}

TEST_CASE("a part of an output lies along its last dim") {
  const auto reference = split();
  auto candidate = fused();
  const Alignment done = align(reference, candidate, {}, kNumbers);
  const PairIndex* keys = pair_of(done, reference, "layers.0.self_attn.k_proj/output.0");
  REQUIRE(keys != nullptr);
  const Tensor& seen = candidate[keys->candidate];
  CHECK(seen.identity.name == "layers.0.self_attn.qkv_proj/output.0[k]");
  REQUIRE(seen.shape == Shape{2, 3, 4});
  std::vector<float> values(24);
  gather(seen, 0, 24, std::as_writable_bytes(std::span(values)));
  for (std::size_t i = 0; i < values.size(); ++i) {  // token i / 4 has 16 values, of which 8 to 11
    CHECK(values[i] == static_cast<float>(i / 4 * 16 + 8 + i % 4));
  }
}

TEST_CASE("a user's map of weights holds for their records") {
  const auto reference = fused("layers.0.attn.wide");
  auto candidate = split("");
  AlignOptions options;
  options.maps = {
      {"layers.{l}.attn.wide.weight", "layers.{l}.self_attn.{q,k,v}.weight", "concat(0)", 1}};
  const Alignment done = align(reference, candidate, options);
  CHECK(done.pairs.size() == 5 + 3);
  CHECK(done.only_reference.empty());
  CHECK(done.only_candidate.empty());
}

TEST_CASE("records of other shapes or other places do not meet") {
  const auto whole = fused();
  auto parts = split();
  for (Tensor& one : parts) {
    if (one.kind == Kind::output) one.shape = {6, one.shape.back()};
    if (one.kind == Kind::grad) one.identity.microbatch = 1;
  }
  const Alignment done = align(whole, parts, {}, kNumbers);
  CHECK(pair_of(done, whole, "layers.0.self_attn.qkv_proj/output.0") == nullptr);
  CHECK(pair_of(done, whole, "layers.0.self_attn.qkv_proj/grad.weight") == nullptr);
  CHECK(done.only_reference.size() == 2);
  CHECK(done.only_candidate.size() == 6);
}

/// The weight that a record's readings are asked of; none: no weight stands for it.
std::optional<Tensor> asked(const Tensor& tensor) {
  std::optional<Tensor> weight;
  of_records([&](const Tensor& one) {
    weight = one;
    return std::vector<Reading>();
  })(tensor);
  return weight;
}

TEST_CASE("the weight that stands for a record") {
  struct Row {
    std::string name;
    Kind kind;
    Shape shape;
    std::string weight;  ///< none: nothing is asked
    Shape rows;
  };
  for (const Row& row :
       {Row{"m/param.weight", Kind::weight, {4, 6}, "m.weight", {4, 6}},
        Row{"m/param.bias", Kind::weight, {4}, "m.bias", {4}},
        Row{"m.n/grad.weight", Kind::grad, {4, 6}, "m.n.weight", {4, 6}},
        Row{"m/param.gain", Kind::weight, {4}, "", {}}, Row{"m/param.0", Kind::weight, {4}, "", {}},
        Row{"m/output.0", Kind::output, {2, 3, 4}, "m.weight", {4}},
        Row{"m/output.0", Kind::output, {}, "m.weight", {}},
        Row{"m/output.1", Kind::output, {2, 4}, "", {}},
        Row{"m/output.weight", Kind::output, {2, 4}, "", {}},
        Row{"m/input.0", Kind::input, {2, 3, 6}, "m.weight", {}},
        Row{"m/loss.0", Kind::loss, {2}, "", {}}, Row{"output.0", Kind::output, {2}, "", {}},
        Row{"m/output", Kind::output, {2}, "", {}}, Row{"m.0/output", Kind::output, {2}, "", {}}}) {
    INFO(row.name);
    const auto weight = asked(record(row.name, Phase::forward, row.kind, row.shape));
    REQUIRE(weight.has_value() == !row.weight.empty());
    if (!weight) continue;
    CHECK(weight->identity.name == row.weight);
    CHECK(weight->shape == row.rows);
  }
  const auto held = asked(record("m.gain", Phase::none, Kind::other, {2}));
  REQUIRE(held);
  CHECK(held->identity.name == "m.gain");
}

TEST_CASE("ops on rows alone are read along the last dim, and parts are records of one place") {
  const std::vector<std::string> ops = {"same", "concat(0)", "concat(1)", "transpose", "glu"};
  const Readings weights = [&](const Tensor&) {
    std::vector<Reading> found;
    for (const std::string& op : ops) found.push_back({"s", {"p", "q"}, parse_op(op)});
    return found;
  };
  const auto read = [&](const std::string& name, Kind kind) {
    return of_records(weights)(record(name, Phase::forward, kind, {4, 6}));
  };
  const auto of_weight = read("m/param.weight", Kind::weight);
  CHECK(of_weight.size() == 5);
  for (const Reading& one : of_weight) CHECK_FALSE(one.features);
  const auto of_output = read("m/output.0", Kind::output);
  REQUIRE(of_output.size() == 3);
  CHECK(of_output[0].op.kind == OpKind::same);
  CHECK(of_output[1].op.kind == OpKind::concat);
  CHECK(of_output[2].op.kind == OpKind::glu);
  for (const Reading& one : of_output) {
    CHECK(one.features);
    CHECK(one.parts.at(0).starts_with("p/output.0\n"));
    CHECK(one.parts.at(1).starts_with("q/output.0\n"));
  }
}

TEST_CASE("the input of a fused module meets that of each part where all are there and alike") {
  struct Row {
    std::string what;
    std::vector<Tensor> parts;
    std::size_t pairs;
    std::int64_t excluded;
  };
  const auto input = [](const std::string& name, Kind kind = Kind::input, Shape shape = {2, 6}) {
    return record(name, Phase::forward, kind, std::move(shape));
  };
  const Readings readings = [](const Tensor& tensor) -> std::vector<Reading> {
    const std::string& name = tensor.identity.name;
    if (name == "z") return {{"s", {"p"}, {}}, {"s", {"p", "q"}, parse_op("glu")}};
    if (name == "turned") return {{"s", {"q"}, parse_op("transpose")}};
    if (name == "both") return {{"s", {"q", "r"}, {}}};
    return {{"s", {name}, {}}};
  };
  const std::vector<Row> rows = {
      {"both", {input("p"), input("q")}, 2, 0},
      {"one of them", {input("p")}, 0, 0},
      {"none", {}, 0, 0},
      {"one that is read through an op", {input("p"), input("turned")}, 0, 0},
      {"one that is two", {input("p"), input("both")}, 0, 0},
      {"one of another shape", {input("p"), input("q", Kind::input, {3, 4})}, 0, 0},
      {"one that is no input", {input("p"), input("q", Kind::output)}, 0, 0},
      {"what flows back", {input("p", Kind::grad_input), input("q", Kind::grad_input)}, 0, 3},
  };
  for (const Row& row : rows) {
    for (const bool turned : {false, true}) {
      INFO(row.what << turned);
      const bool back = row.excluded > 0;
      const std::vector<Tensor> fused = {input("z", back ? Kind::grad_input : Kind::input)};
      Bench bench;
      bench.reference = turned ? std::span<const Tensor>(row.parts) : fused;
      bench.candidate = turned ? std::span<const Tensor>(fused) : row.parts;
      for (std::size_t i = 0; i < bench.reference.size(); ++i) bench.left.push_back(i);
      for (std::size_t j = 0; j < bench.candidate.size(); ++j) bench.right.push_back(j);
      pair_shared_inputs(bench, readings, readings);
      REQUIRE(bench.done.pairs.size() == row.pairs);
      for (std::size_t n = 0; n < row.pairs; ++n) {
        CHECK(bench.done.pairs[n].reference == (turned ? n : 0));
        CHECK(bench.done.pairs[n].candidate == (turned ? 0 : n));
      }
      std::vector<std::pair<std::string, std::int64_t>> excluded;
      if (back) excluded.emplace_back("grad_input of fused modules", row.excluded);
      CHECK(bench.done.excluded_by == excluded);
      const bool used = back || row.pairs > 0;
      CHECK(bench.left.size() == (used ? 0 : bench.reference.size()));
      CHECK(bench.right.size() == (used ? 0 : bench.candidate.size()));
    }
  }
}

}  // namespace
}  // namespace ttcheck::align
