// SPDX-License-Identifier: Apache-2.0
// A gradient that several calls add up to: in which ways they may have been meant.

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "core/recompute/recompute.hpp"
#include "tests/support/stored_piece.hpp"

namespace ttcheck::recompute {
namespace {

using Told = Recomputed::State;
using Doubles = std::vector<double>;

const Doubles kInput = {0.3, -0.5}, kGiven = {2, -1};

double exact(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2 +
         x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

double by_tanh(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * std::pow(x, 3)));
  return (1 + t + x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)) / 2;
}

double of_silu(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return s + x * s * (1 - s);
}

Doubles slopes(double (*slope)(double)) {
  return {kGiven[0] * slope(kInput[0]), kGiven[1] * slope(kInput[1])};
}

/// Of x / sqrt(mean x^2 + eps).
Doubles of_norm(double eps) {
  const double mean = (kInput[0] * kInput[0] + kInput[1] * kInput[1]) / 2;
  const double along = (kGiven[0] * kInput[0] + kGiven[1] * kInput[1]) / 2;
  const double s = 1 / std::sqrt(mean + eps);
  return {s * kGiven[0] - s * s * s * kInput[0] * along,
          s * kGiven[1] - s * s * s * kInput[1] * along};
}

/// Is the sum of the two what calls of these ops add up to?
Told told(const std::string& op, const Doubles& one, const std::string& other, const Doubles& two) {
  std::deque<tests::ArraySource> sources;
  std::vector<Tensor> tensors;
  const auto add = [&](const std::string& name, Kind kind, const Doubles& values,
                       const std::string& made_by = {}) {
    Tensor& made = tensors.emplace_back();
    const bool back = kind == Kind::grad_output;
    made.identity = {name, back ? Phase::backward : Phase::forward, 0, 0};
    made.kind = kind;
    made.dtype = DType::f64;
    made.shape = {1, 2};
    made.pieces = {tests::stored_piece(sources, kNoRank, DType::f64, values)};
    auto trace = std::make_shared<TraceRecord>();
    trace->seq = std::ssize(tensors);
    trace->op = made_by;
    if (!made_by.empty()) trace->inputs = {"a/output.0"};
    made.trace = std::move(trace);
  };
  add("a/output.0", Kind::output, kInput);
  add("b/output.0", Kind::output, kInput, op);
  add("c/output.0", Kind::output, kInput, other);
  add("c/grad_output.0", Kind::grad_output, kGiven);
  add("b/grad_output.0", Kind::grad_output, kGiven);
  add("a/grad_output.0", Kind::grad_output, {one[0] + two[0], one[1] + two[1]});
  const Parameters none;
  const Graph graph(tensors, none, 1);
  return Recompute(graph, graph, {}).judge(tensors.back(), tensors.back(), -1).state;
}

TEST_CASE("calls of one op were meant in one way, those of several each in its own") {
  const Doubles gelu = slopes(exact), rough = slopes(by_tanh), silu = slopes(of_silu);
  CHECK(told("gelu", gelu, "gelu", gelu) == Told::right);
  CHECK(told("gelu", rough, "gelu", rough) == Told::right);
  CHECK(told("gelu", gelu, "gelu", rough) == Told::unknown);
  CHECK(told("gelu", rough, "silu", silu) == Told::right);
  CHECK(told("silu", silu, "gelu", rough) == Told::right);
  CHECK(told("activation", silu, "gelu", rough) == Told::right);
  CHECK(told("activation", rough, "gelu", gelu) == Told::right);
  CHECK(told("silu", silu, "silu", gelu) == Told::unknown);
}

TEST_CASE("of very many ways the first 24 are tried") {
  // Of `activation` there are 11, of a norm whose eps is not stated every second one is plain.
  const Doubles gelu = slopes(exact), rough = slopes(by_tanh), third = of_norm(1e-6);
  CHECK(told("activation", gelu, "rmsnorm", third) == Told::right);
  CHECK(told("activation", rough, "rmsnorm", third) == Told::unknown);
  CHECK(told("activation", rough, "rmsnorm", of_norm(1e-5)) == Told::right);
}

}  // namespace
}  // namespace ttcheck::recompute
