#include "core/align/record_readings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
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

}  // namespace
}  // namespace ttcheck::align
