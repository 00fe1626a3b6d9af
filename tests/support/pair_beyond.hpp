// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pair beyond its limit, as hypotheses about its error get to see it.

#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/explain/survey.hpp"
#include "core/model/verdict.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::tests {

/// Numbers of f32 in [-1, 1), of which none follows from others; another `pitch`, others.
inline std::vector<double> drawn(std::size_t count, double pitch) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::sin(pitch * static_cast<double>(i * i + 1)) * 43758.5453;
    values.push_back(static_cast<double>(static_cast<float>(2 * (x - std::floor(x)) - 1)));
  }
  return values;
}

/// Values are rounded to their dtypes; the metrics are those of a comparison. Without `rel` the
/// limit is exact, with it a model's, whose rows may have 6 times and elements 16 times that.
class PairBeyond {
 public:
  PairBeyond(const Shape& shape, const std::vector<double>& reference_values,
             const std::vector<double>& candidate_values, double rel = 0,
             DType reference_dtype = DType::f32, DType candidate_dtype = DType::f32)
      : reference(hold(shape, reference_values, reference_dtype)),
        candidate(hold(shape, candidate_values, candidate_dtype)) {
    result.identity.name = "w";
    result.dtype = reference_dtype;
    result.candidate_dtype = candidate_dtype;
    result.shape = shape;
    if (rel > 0) {
      result.limit.kind = LimitKind::model;
      result.limit.rel = rel;
      result.limit.row = 6 * rel;
      result.limit.outlier = 16 * rel;
    }
    subject.pair = {&reference, &candidate};
    subject.result = &result;
    subject.mesh = &mesh;
    subject.numbers = &numbers;
    subject.noise = 1e-6;
    measure();
  }
  PairBeyond(const PairBeyond&) = delete;

  /// Again, after a tensor or a map was changed.
  void measure() {
    result.metrics = compare::compare({&subject.pair, 1}, {})[0].metrics;
    result.ratio = result.limit.rel > 0 ? result.metrics.rel() / result.limit.rel
                                        : std::numeric_limits<double>::infinity();
  }

  explain::Survey seen() const { return explain::survey(subject); }

  /// A tensor that lives as long as the pair.
  Tensor hold(const Shape& shape, const std::vector<double>& values, DType dtype = DType::f32) {
    return tensor_of(sources_.emplace_back(stored_values(dtype, values)), dtype, shape);
  }

 private:
  std::deque<ArraySource> sources_;  // before the tensors, which point there

 public:
  Tensor reference, candidate;
  TensorResult result;
  Mesh mesh;
  Numbers numbers;
  explain::Subject subject;
};

/// The parameter of that name, if it is there and of that type.
template <class T>
std::optional<T> parameter_of(const explain::Explanation& found, std::string_view name) {
  for (const auto& [key, value] : found.hypothesis.parameters) {
    if (key != name) continue;
    if (const T* const held = std::get_if<T>(&value)) return *held;
  }
  return std::nullopt;
}

}  // namespace ttcheck::tests
