// SPDX-License-Identifier: Apache-2.0
#include "core/align/rescaling.hpp"

#include <cstdlib>
#include <optional>

#include "core/base/require.hpp"

namespace ttcheck::align {
namespace {

/// The power of a parameter's factor by which tensors of the kind grow.
int power_of(Kind kind) {
  switch (kind) {
    case Kind::weight:
    case Kind::master:
    case Kind::input:
    case Kind::output:
      return 1;
    case Kind::moment1:
    case Kind::momentum:
    case Kind::grad:
    case Kind::main_grad:
    case Kind::grad_input:
    case Kind::grad_output:
      return -1;
    case Kind::moment2:
      return -2;
    default:
      return 0;
  }
}

ValueMap times(double c, int power) {
  const double factor = std::abs(power) == 2 ? c * c : c;
  if (power == 0) return {};
  return power > 0 ? ValueMap{factor, 1, 0} : ValueMap{1, factor, 0};
}

}  // namespace

Rescaling rescaling_of(const MapOp& op, Kind kind, const Numbers& numbers) {
  require(op.kind == OpKind::add || op.kind == OpKind::scale, "add or scale");
  const std::optional<double> known = real_of(op, numbers);
  require(known.has_value(), "a number that is known");
  const double c = known.value();
  const int power = power_of(kind);
  if (op.kind == OpKind::scale) return {times(c, power), times(c, -power)};
  if (power != 1) return {};
  return {{1, 1, c}, {1, 1, -c}};
}

}  // namespace ttcheck::align
