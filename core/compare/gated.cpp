// SPDX-License-Identifier: Apache-2.0
#include "core/compare/gated.hpp"

#include <algorithm>

#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

/// Elements that are looked at first: where there is no gate, one of a few shows it.
constexpr std::int64_t kProbe = 512;

}  // namespace

std::optional<Gated> gated(const Pair& values, const Pair& gradient, const Stop& stop) {
  const Shape& shape = gradient.reference->shape;
  if (!readable(values, shape) || !readable(gradient, shape)) return std::nullopt;
  Values va(*values.reference), vb(*values.candidate);
  Values ga(*gradient.reference), gb(*gradient.candidate);
  Turned turned(shape.empty() ? 1 : shape.back());
  const std::int64_t count = element_count(shape);
  std::int64_t size = kProbe;
  for (std::int64_t begin = 0; begin < count; begin += size, size = kValuesRange) {
    if (stop && stop()) throw Stopped();
    size = std::min(size, count - begin);
    const auto left = va.read(begin, size), right = vb.read(begin, size);
    const auto a = ga.read(begin, size), b = gb.read(begin, size);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool open_a = left[i] > 0, open_b = right[i] > 0;
      if ((!open_a && a[i] != 0) || (!open_b && b[i] != 0)) return std::nullopt;
      turned.add(a[i], b[i], open_a != open_b);
    }
  }
  return turned.take();
}

}  // namespace ttcheck::compare
