// SPDX-License-Identifier: Apache-2.0
// From the last axis on, both shapes are taken apart into common factors: where the extent that is
// left of one side's axis divides that of the other, it is a loop that both run. [4, 6] as [8, 3]
// is loops of 3, 2 and 4. Where neither divides the other ([4, 6] as [6, 4]), what is left of both
// shapes, seen as one line, is cut wherever a row of either ends; each stretch is a link of its
// own.

#include "core/align/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/require.hpp"

namespace ttcheck::align {
namespace {

constexpr std::int64_t kMaxStretches = std::int64_t{1} << 16;

/// One shape, consumed from its last axis on.
class Side {
 public:
  explicit Side(const Shape& shape) : shape_(shape), axis_(shape.size()) { settle(); }

  bool done() const { return axis_ == 0; }
  std::size_t axis() const { return axis_ - 1; }
  std::int64_t left() const { return left_; }
  std::int64_t step() const { return step_; }

  void take(std::int64_t factor) {
    left_ /= factor;
    step_ *= factor;
    if (left_ == 1) {
      --axis_;
      settle();
    }
  }

  /// Adds to `index` the position `at` on the line of what is left.
  void place(std::int64_t at, Extents& index) const {
    index[axis()] += at % left_ * step_;
    at /= left_;
    for (std::size_t d = axis(); d-- > 0;) {
      index[d] += at % shape_[d];
      at /= shape_[d];
    }
  }

 private:
  void settle() {
    while (axis_ > 0 && shape_[axis_ - 1] == 1) --axis_;
    step_ = 1;
    left_ = axis_ > 0 ? shape_[axis_ - 1] : 1;
  }

  const Shape& shape_;
  std::size_t axis_;
  std::int64_t left_ = 1, step_ = 1;
};

}  // namespace

BoxMap reshaped(const Shape& part, const Shape& whole) {
  BoxMap map{whole, {part}, {}};
  const std::int64_t count = element_count(part);
  if constexpr (kRequires) require(element_count(whole) == count, "equal element counts");
  if (count == 0) return map;
  Link link{0, Extents(part.size(), 0), Extents(whole.size(), 0), {}};
  Side from(part), to(whole);
  std::int64_t left = count;
  while (!from.done() && (from.left() % to.left() == 0 || to.left() % from.left() == 0)) {
    const std::int64_t size = std::min(from.left(), to.left());
    link.loops.push_back({size, from.axis(), to.axis(), from.step(), to.step()});
    from.take(size);
    to.take(size);
    left /= size;
  }
  if (from.done()) {
    map.links.push_back(std::move(link));
    return map;
  }
  if (checked_add(left / from.left(), left / to.left()) > kMaxStretches) {
    throw Error(fmt::format("the map takes more than {} boxes", kMaxStretches));
  }
  for (std::int64_t at = 0; at < left;) {
    const std::int64_t size = std::min(from.left() - at % from.left(), to.left() - at % to.left());
    Link& stretch = map.links.emplace_back(link);
    from.place(at, stretch.part_start);
    to.place(at, stretch.whole_start);
    stretch.loops.push_back({size, from.axis(), to.axis(), from.step(), to.step()});
    at += size;
  }
  return map;
}

}  // namespace ttcheck::align
