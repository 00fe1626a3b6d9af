// SPDX-License-Identifier: Apache-2.0
// The tensor is cut into at most 64 stretches of whole ranges, each walked by one thread; their
// parts are folded in order. Cuts depend on dtypes and shape alone, so the sums do, too.

#include "core/compare/profile.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/checked.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/profile_part.hpp"
#include "core/compare/ranges.hpp"
#include "core/compare/ulp.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kStretches = 64;
constexpr int kLowestPower = -60, kPowers = 80;         // of |b-a| over the rms of A
constexpr int kLowestValue = -150, kValuePowers = 300;  // of values
constexpr double kConfined = 0.99;                      // of the error
constexpr double kMostOfAxis = 0.5;
constexpr double kAlike = 0.25;  // of the mean of slices

std::int64_t power_of_two_at_least(std::int64_t least) {
  std::int64_t size = 1;
  while (size < least) size *= 2;
  return size;
}

BlockProfile blocks_of(const Shape& shape) {
  BlockProfile blocks;
  blocks.columns = shape.back();
  blocks.rows = element_count(shape) / std::max<std::int64_t>(blocks.columns, 1);
  blocks.block_rows = power_of_two_at_least(ceil_div(blocks.rows, kMostBlocksDown));
  blocks.block_columns = power_of_two_at_least(ceil_div(blocks.columns, kMostBlocksAcross));
  blocks.down = ceil_div(blocks.rows, blocks.block_rows);
  blocks.across = ceil_div(blocks.columns, blocks.block_columns);
  blocks.blocks.resize(static_cast<std::size_t>(blocks.down * blocks.across));
  return blocks;
}

ProfileFrame frame_of(const Pair& pair, std::span<const AxisChoice> axes, double rms,
                      std::size_t top) {
  ProfileFrame frame;
  const Tensor& a = *pair.reference;
  frame.shape = a.shape;
  frame.pair = pair.candidate != nullptr;
  frame.complex_a = is_complex(a.dtype);
  frame.complex_b = frame.pair && is_complex(pair.candidate->dtype);
  frame.unit = rms > 0 && std::isfinite(rms) ? rms : 1;
  frame.top = top;
  Profile& empty = frame.empty;
  empty.pair = frame.pair;
  empty.sides.resize(frame.pair ? 2 : 1);
  for (const AxisChoice& choice : axes) {
    AxisProfile axis{choice.name, choice.dim, 1, a.shape[choice.dim], {}};
    const std::int64_t groups = ceil_div(axis.extent, choice.group);
    axis.slices_per_bin = choice.group * std::max<std::int64_t>(ceil_div(groups, kMostBins), 1);
    axis.bins.resize(static_cast<std::size_t>(ceil_div(axis.extent, axis.slices_per_bin)));
    empty.axes.push_back(std::move(axis));
  }
  if (a.shape.size() >= 2 && element_count(a.shape) > 0) empty.blocks = blocks_of(a.shape);
  empty.histogram.lowest = frame.pair ? kLowestPower : kLowestValue;
  empty.histogram.unit = frame.unit;
  empty.histogram.bins.resize(frame.pair ? kPowers : kValuePowers);
  if (!frame.pair && !frame.complex_a) empty.histogram.negative_bins.resize(kValuePowers);
  return frame;
}

/// A block's bytes within a range.
std::span<const std::byte> bytes_at(DType dtype, std::span<const std::byte> bytes, std::int64_t at,
                                    int count) {
  return bytes.subspan(byte_size(dtype, at), byte_size(dtype, count));
}

class Profiler {
 public:
  Profiler(const Pair& pair, const ProfileFrame& frame, const Stop& stop)
      : pair_(pair),
        frame_(frame),
        stop_(stop),
        a_(pair.reference->dtype),
        b_(frame.pair ? pair.candidate->dtype : a_),
        count_(element_count(frame.shape)),
        range_(range_elements(a_, b_)) {}

  Profile run() {
    ProfilePart all(frame_, 0);
    if (count_ == 0) return all.take();
    const std::int64_t ranges = ceil_div(count_, range_);
    const std::int64_t stretch = ceil_div(ranges, kStretches) * range_;
    const auto work = [&](std::size_t task) {
      const std::int64_t begin = static_cast<std::int64_t>(task) * stretch;
      ProfilePart part(frame_, begin);
      const auto values = std::make_unique<ProfiledValues>();
      for (std::int64_t at = begin; at < std::min(begin + stretch, count_); at += range_) {
        if (stop_ && stop_()) throw Stopped();
        add_range(at, std::min(range_, count_ - at), *values, part);
      }
      return part;
    };
    fold_in_order(static_cast<std::size_t>(ceil_div(count_, stretch)), work,
                  [&](std::size_t, ProfilePart&& part) { all.append(part); });
    return all.take();
  }

 private:
  void add_range(std::int64_t begin, std::int64_t count, ProfiledValues& values,
                 ProfilePart& part) const {
    Buffers& buffers = Buffers::mine();
    const auto a = buffers.a(*pair_.reference, begin, count);
    fetch(*pair_.reference, pair_.reference_map, begin, count, a);
    std::span<std::byte> b;
    if (frame_.pair) {
      b = buffers.b(*pair_.candidate, begin, count);
      fetch(*pair_.candidate, pair_.candidate_map, begin, count, b);
    }
    const std::vector<LinearRange> holes =
        frame_.pair ? holes_of(pair_, begin, begin + count)
                    : ranges_in(pair_.reference->holes, frame_.shape, begin, begin + count);
    for (std::int64_t at = 0; at < count; at += kProfileBlock) {
      const auto n = static_cast<int>(std::min<std::int64_t>(kProfileBlock, count - at));
      decode_values(a_, bytes_at(a_, a, at, n), b_,
                    frame_.pair ? bytes_at(b_, b, at, n) : std::span<const std::byte>{}, n, values);
      for (const LinearRange& hole : holes) {
        const std::int64_t from = std::max<std::int64_t>(hole.begin - begin - at, 0);
        const std::int64_t to = std::min<std::int64_t>(hole.end - begin - at, n);
        for (std::int64_t i = from; i < to; ++i) leave_out(values, static_cast<std::size_t>(i));
      }
      part.add(values);
    }
  }

  static void leave_out(ProfiledValues& values, std::size_t i) {
    values.taken[i] = kProfileAbsent;
    values.a[i] = values.b[i] = values.d[i] = 0;
  }

  const Pair& pair_;
  const ProfileFrame& frame_;
  const Stop& stop_;
  DType a_, b_;
  std::int64_t count_, range_;
};

void add_ulps(const Pair& pair, Profile& profile) {
  if (!profile.pair || is_complex(pair.reference->dtype)) return;
  const DType unit = unit_of(pair.reference->dtype, pair.candidate->dtype);
  for (ProfiledElement& element : profile.elements) {
    if (std::isnan(element.difference)) continue;
    element.ulp = ulp_distance(unit, element.a[0], element.b[0]);
  }
}

/// The narrowest run of consecutive bins with 99% of what `weight` says of all.
template <class Weight>
std::optional<Confinement> narrowest(const AxisProfile& axis, double whole, const Weight& weight) {
  if (!(whole > 0) || !std::isfinite(whole)) return std::nullopt;
  const std::size_t count = axis.bins.size();
  std::size_t best = 0;
  std::size_t width = count;
  double sum = 0;
  for (std::size_t first = 0, end = 0; first < count; ++first) {
    while (end < count && sum < kConfined * whole) sum += weight(axis.bins[end++]);
    if (sum < kConfined * whole) break;
    if (end - first < width) {
      width = end - first;
      best = first;
    }
    sum -= weight(axis.bins[first]);
  }
  double held = 0;
  for (std::size_t i = best; i < best + width; ++i) held += weight(axis.bins[i]);
  // What lies beside it and is like the rest of it belongs to it.
  const auto joins = [&](std::size_t bin) {
    return weight(axis.bins[bin]) * static_cast<double>(width) > kAlike * held;
  };
  for (; best + width < count && joins(best + width); ++width) {
    held += weight(axis.bins[best + width]);
  }
  for (; best > 0 && joins(best - 1); ++width) held += weight(axis.bins[--best]);
  const auto first = static_cast<std::int64_t>(best);
  const auto end = static_cast<std::int64_t>(best + width);
  return Confinement{0, first * axis.slices_per_bin,
                     std::min(end * axis.slices_per_bin, axis.extent) - 1,
                     std::min(held / whole, 1.0)};
}

}  // namespace

Profile profile(const Pair& pair, std::span<const AxisChoice> axes, double rms, std::size_t top,
                const Stop& stop) {
  const ProfileFrame frame = frame_of(pair, axes, rms, top);
  Profile found = Profiler(pair, frame, stop).run();
  add_ulps(pair, found);
  if (found.pair) found.confined = confinement(found);
  return found;
}

std::optional<Confinement> confinement(const Profile& profile) {
  const Sums& all = profile.all;
  if (all.unequal == 0) return std::nullopt;
  std::optional<Confinement> best;
  double best_part = kMostOfAxis;
  for (std::size_t i = 0; i < profile.axes.size(); ++i) {
    const AxisProfile& axis = profile.axes[i];
    const auto found =
        all.disagree > 0
            ? narrowest(axis, static_cast<double>(all.disagree),
                        [](const Sums& bin) { return static_cast<double>(bin.disagree); })
            : narrowest(axis, all.d2, [](const Sums& bin) { return bin.d2; });
    if (!found) continue;
    const double part =
        static_cast<double>(found->last - found->first + 1) / static_cast<double>(axis.extent);
    const bool narrower = best ? part < best_part : part <= best_part;
    if (!narrower) continue;
    best_part = part;
    best = found;
    best->axis = i;
  }
  return best;
}

}  // namespace ttcheck::compare
