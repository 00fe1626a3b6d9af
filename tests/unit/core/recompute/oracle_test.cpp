// SPDX-License-Identifier: Apache-2.0
// Each op forward and backward against torch in double (tests/support/make_recompute.py).

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <set>

#include "core/assemble/assemble.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"
#include "core/recompute/ops.hpp"
#include "core/recompute/recompute.hpp"
#include "formats/open.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::recompute {
namespace {

using State = Recomputed::State;

struct Ops {
  explicit Ops(const std::string& dtype)
      : run(*formats::open(tests::project_file("tests/data/recompute/" + dtype))),
        tensors(assemble::assemble(run.open(0), run.mesh, {}).tensors) {}

  /// Records that an op made; the gradient that arrives at `stream` is the sum of two ops'.
  std::vector<std::size_t> made() const {
    std::vector<std::size_t> found;
    for (std::size_t n = 0; n < tensors.size(); ++n) {
      const Kind kind = tensors[n].kind;
      const bool of_op = kind == Kind::output || kind == Kind::loss || kind == Kind::grad_input ||
                         kind == Kind::grad;
      if (of_op || tensors[n].identity.name == "stream/grad_output.0") found.push_back(n);
    }
    return found;
  }

  Run run;
  std::vector<Tensor> tensors;
  Parameters none;
};

/// A copy of a tensor, one of whose elements is off by so much of its rms.
Tensor spoilt(const Tensor& tensor, std::int64_t at, std::deque<tests::ArraySource>& sources,
              double part = 1) {
  const std::int64_t count = element_count(tensor.shape);
  std::vector<std::byte> bytes(byte_size(tensor.dtype, count));
  gather(tensor, 0, count, bytes);
  std::vector<double> values(static_cast<std::size_t>(count));
  to_doubles(tensor.dtype, bytes.data(), count, values.data());
  double square = 0;
  for (const double value : values) square += value * value;
  values[static_cast<std::size_t>(at)] += part * std::sqrt(square / static_cast<double>(count));
  from_doubles(tensor.dtype, values.data(), count, bytes.data());
  Tensor copy = tensor;
  copy.pieces =
      tests::tensor_of(sources.emplace_back(std::move(bytes)), tensor.dtype, tensor.shape).pieces;
  return copy;
}

void check_right(const std::string& dtype) {
  const Ops ops(dtype);
  const Graph graph(ops.tensors, ops.none, 1);
  Recompute recompute(graph, graph, {});
  std::set<std::string> seen;
  for (const std::size_t n : ops.made()) {
    const Tensor& tensor = ops.tensors[n];
    CAPTURE(tensor.identity.name);
    const Recomputed found = recompute.judge(tensor, tensor, -1);
    CHECK(found.state == State::right);
    CHECK(found.error <= found.limit);
    seen.insert(found.op.substr(0, found.op.find(' ')));
  }
  CHECK(ops.made().size() > 80);
  for (const char* op :
       {"linear",     "embedding", "rmsnorm", "layernorm", "add",           "mul",
        "silu",       "gelu",      "swiglu",  "softmax",   "cross_entropy", "rope",
        "attention",  "sub",       "div",     "pow",       "relu",          "sigmoid",
        "tanh",       "exp",       "square",  "sqrt",      "rsqrt",         "neg",
        "activation", "matmul",    "split",   "addcmul",   "addcdiv",       "lerp"}) {
    CAPTURE(op);
    CHECK(seen.contains(op));
  }
}

TEST_CASE("what torch made in double and stored as fp32 is right") { check_right("f32"); }

TEST_CASE("and stored as bf16") { check_right("bf16"); }

TEST_CASE("one element that is off makes the op wrong, and is named") {
  for (const char* dtype : {"f32", "bf16"}) {
    const Ops ops(dtype);
    const Graph graph(ops.tensors, ops.none, 1);
    std::deque<tests::ArraySource> sources;
    for (const std::size_t n : ops.made()) {
      const Tensor& tensor = ops.tensors[n];
      CAPTURE(tensor.identity.name);
      std::vector<Tensor> candidate = ops.tensors;
      const std::int64_t at = element_count(tensor.shape) / 2;
      candidate[n] = spoilt(tensor, at, sources);
      const Graph other(candidate, ops.none, 1);
      const Recomputed found = Recompute(graph, other, {}).judge(tensor, candidate[n], at);
      CHECK(found.state == State::wrong);
      CHECK(found.index == at);
      CHECK(found.error > found.limit);
    }
  }
}

TEST_CASE("less than the limit is wrong where the reference's own is far less") {
  const Ops ops("bf16");
  const Graph graph(ops.tensors, ops.none, 1);
  const auto is_silu = [](const Tensor& tensor) { return tensor.identity.name == "silu/output.0"; };
  const auto n =
      static_cast<std::size_t>(std::ranges::find_if(ops.tensors, is_silu) - ops.tensors.begin());
  const Tensor& tensor = ops.tensors[n];
  const auto judge = [&](double part) {
    std::deque<tests::ArraySource> sources;
    std::vector<Tensor> candidate = ops.tensors;
    candidate[n] = spoilt(tensor, 1, sources, part);
    const Graph other(candidate, ops.none, 1);
    return Recompute(graph, other, {}).judge(tensor, candidate[n], 1);
  };
  const double limit = judge(1).limit;  // of one element, in rms
  const Recomputed near = judge(0.7 * limit);
  CHECK(near.state == State::wrong);
  CHECK(near.clear);
  CHECK(near.error > near.limit);
  CHECK(near.limit < limit);
  CHECK(judge(0.25 * limit).state != State::wrong);
}

TEST_CASE("nothing is begun beyond a budget") {
  const Ops ops("f32");
  const Graph graph(ops.tensors, ops.none, 1);
  const Tensor& tensor = ops.tensors[ops.made().front()];
  CHECK(Recompute(graph, graph, {}, 1.0).judge(tensor, tensor, -1).state == State::unknown);
  CHECK(Recompute(graph, graph, {}, 1e9).judge(tensor, tensor, -1).state == State::right);
}

TEST_CASE("where the reference is not what the formula gives, nothing is said") {
  const Ops ops("f32");
  std::deque<tests::ArraySource> sources;
  std::vector<Tensor> reference = ops.tensors;
  const auto is_gelu = [](const Tensor& tensor) { return tensor.identity.name == "gelu/output.0"; };
  const auto at = std::ranges::find_if(reference, is_gelu) - reference.begin();
  const auto n = static_cast<std::size_t>(at);
  reference[n] = spoilt(ops.tensors[n], 3, sources);
  const Graph left(reference, ops.none, 1), right(ops.tensors, ops.none, 1);
  CHECK(Recompute(left, right, {}).judge(reference[n], ops.tensors[n], -1).state == State::unknown);
}

}  // namespace
}  // namespace ttcheck::recompute
