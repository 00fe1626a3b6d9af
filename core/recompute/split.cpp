// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "core/recompute/ops.hpp"

// Parts of the last dim, one behind the other: queries, keys and values out of what one projection
// puts out. They need not be of one width, and the call does not say where each begins: the first
// of its slot, where all are alike, or the last or the one before, where the first is wider
// (grouped queries). Backward: the gradients of all parts in their order.

namespace ttcheck::recompute {
namespace {

/// `width` elements from `first` on, of each row.
Formulas part_of(const Operand& whole, std::int64_t first, std::int64_t width) {
  Formulas formulas;
  auto formula =
      by_rows(width, 1, [&whole, first, width](std::int64_t begin, std::span<double> out) {
        const auto size = static_cast<std::size_t>(width);
        for (std::size_t n = 0; n < out.size() / size; ++n) {
          const std::int64_t row = begin / width + static_cast<std::int64_t>(n);
          whole.read(row * whole.width() + first, out.subspan(n * size, size));
        }
      });
  if (formula) formulas.push_back(std::move(*formula));
  return formulas;
}

}  // namespace

Formulas split_forward(const Call& call, const Target& target) {
  const Operand* const whole = call.argument(0);
  if (whole == nullptr || whole->rows() == 0 || target.count() % whole->rows() != 0) return {};
  const std::int64_t width = target.count() / whole->rows();
  const std::int64_t room = whole->width() - width;
  if (width == 0 || room < 0) return {};
  std::vector<std::int64_t> firsts;
  const auto slot = static_cast<std::int64_t>(target.slot);
  if (slot <= room / width) firsts.push_back(slot * width);
  for (const std::int64_t first : {room, room - width}) {
    const bool fresh = std::ranges::find(firsts, first) == firsts.end();
    if (first >= 0 && fresh) firsts.push_back(first);
  }
  Formulas formulas;
  for (const std::int64_t first : firsts) {
    for (Formula& formula : part_of(*whole, first, width)) formulas.push_back(std::move(formula));
  }
  return formulas;
}

Formulas split_backward(const Call& call, const Target& target) {
  const std::int64_t width = target.width();
  if (target.part != Target::Part::argument || target.slot != 0 || width == 0) return {};
  const std::int64_t rows = target.count() / width;
  std::vector<const Operand*> parts = call.gradients;
  std::int64_t all = 0;
  for (const Operand* part : parts) {
    if (part == nullptr || rows == 0 || part->count() % rows != 0) return {};
    all += part->count() / rows;
  }
  if (all != width) return {};
  Formulas formulas;
  auto formula = by_rows(width, 1, [=](std::int64_t begin, std::span<double> out) {
    for (std::size_t at = 0; at < out.size();) {
      const std::int64_t row = (begin + static_cast<std::int64_t>(at)) / width;
      for (const Operand* part : parts) {
        const std::int64_t size = part->count() / rows;
        part->read(row * size, out.subspan(at, static_cast<std::size_t>(size)));
        at += static_cast<std::size_t>(size);
      }
    }
  });
  if (formula) formulas.push_back(std::move(*formula));
  return formulas;
}

}  // namespace ttcheck::recompute
