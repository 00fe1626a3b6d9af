// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rule.hpp"

#include <algorithm>

#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

struct Tolerances {
  double rtol, atol;
};

Tolerances defaults_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::c32:
      return {1e-3, 1e-5};
    case DType::bf16:
      return {1.6e-2, 1e-5};
    case DType::f32:
    case DType::c64:
      return {1.3e-6, 1e-5};
    case DType::f64:
    case DType::c128:
      return {1e-7, 1e-7};
    default:
      return {0, 0};  // integers, bool, and the 8-bit floats and below, which compare exactly
  }
}

}  // namespace

Rule rule_for(DType a, DType b, bool exact_sums) {
  Rule rule;
  rule.a = a;
  rule.b = b;
  const Tolerances of_a = defaults_of(a);
  const Tolerances of_b = defaults_of(b);
  rule.close_rtol = std::max(of_a.rtol, of_b.rtol);
  rule.close_atol = std::max(of_a.atol, of_b.atol);
  rule.wide = exact_sums || !fits_float(a) || !fits_float(b) || is_complex(a) || is_complex(b) ||
              (is_exact(a) && is_exact(b));
  return rule;
}

}  // namespace ttcheck::compare
