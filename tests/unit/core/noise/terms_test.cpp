// SPDX-License-Identifier: Apache-2.0
#include "core/noise/terms.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "core/model/dtype.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::noise {
namespace {

/// A convolution in front of a norm, `conv`, of one channel: two images of 512 pixels, the terms
/// of each of one sign.
class Centred {
 public:
  Centred() {
    std::vector<float> terms(1024);
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = i < 512 ? 1.0F : -1.0F;
    weight = &add(Kind::main_grad, Phase::sync, "conv/main_grad.weight", {32.0F}, {1, 1});
    bias = &add(Kind::main_grad, Phase::sync, "conv/main_grad.bias", {1e-5F}, {1});
    add(Kind::output, Phase::forward, "conv/output.0", terms, {2, 1, 512});
    add(Kind::grad_output, Phase::backward, "conv/grad_output.0", terms, {2, 1, 512});
    add(Kind::input, Phase::forward, "conv/input.0", {1.0F}, {1});
    step.pairs = pairs_;
  }

  /// What round-off makes of the bias's gradient, which is `apart` on the two sides.
  double usual(double apart) const {
    TensorResult result;
    result.pair = 1;
    result.metrics.count = 1;
    result.metrics.sum_d2 = result.metrics.sum_a2 = result.metrics.sum_b2 = apart * apart;
    const Carried none;
    const Terms terms(step, {&result, 1}, none);
    const auto roundoff = terms.roundoff(*bias, 1e-9);
    REQUIRE(roundoff);
    return roundoff->usual;
  }

  StepRecords step;
  const Tensor *weight = nullptr, *bias = nullptr;

 private:
  const Tensor& add(Kind kind, Phase phase, std::string name, const std::vector<float>& values,
                    Shape shape) {
    const auto& source = sources_.emplace_back(tests::ArraySource::of(values));
    Tensor& record = tensors_.emplace_back(tests::tensor_of(source, DType::f32, std::move(shape)));
    record.kind = kind;
    record.identity = {std::move(name), phase};
    pairs_.push_back({&record, &record, nullptr});
    return record;
  }

  std::deque<tests::ArraySource> sources_;
  std::deque<Tensor> tensors_;
  std::vector<RecordPair> pairs_;
};

TEST_CASE("terms of a bias's gradient are off by their number, or by their partial sums") {
  const Centred step;
  const double eps = epsilon(DType::f32);
  // The terms are of size sqrt(1024) = 32 together, which the weight's gradient tells.
  const double by_number = std::sqrt(1024.0) * eps * 32;
  CHECK(step.usual(0.5 * by_number) == doctest::Approx(by_number));
  // Beyond that, what their partial sums make: 1, 2, .. 512, 511, .. 0.
  double squares = 0;
  for (int k = 1; k <= 512; ++k) squares += k * k + (512 - k) * (512 - k);
  const double by_sums = std::sqrt(squares / 1024) * eps * 32;
  CHECK(by_sums > 9 * by_number);
  CHECK(step.usual(2 * by_number) == doctest::Approx(by_sums));
  // What no partial sums of so many terms can make is not asked of them.
  CHECK(step.usual(1024 * eps * 32) == doctest::Approx(by_number));
}

}  // namespace
}  // namespace ttcheck::noise
