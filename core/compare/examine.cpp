// SPDX-License-Identifier: Apache-2.0
// The second pass over one pair: rows, columns, outliers and ULP distances, relative to the size of
// A that the first pass found. More passes, over ULPs alone, follow only if their quantiles are not
// settled by then.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/compare.hpp"
#include "core/compare/complex.hpp"
#include "core/compare/floats.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/ranges.hpp"
#include "core/compare/ulp.hpp"
#include "core/compare/whole.hpp"
#include "core/compare/wide.hpp"
#include "core/compare/worst.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kMostColumns = 1 << 22;  ///< more are not told apart

constexpr std::uint32_t kInfinityBits = 0x7f800000;

/// Any code but 0 is true.
const std::byte* truth_values(const std::byte* stored, int count, std::uint8_t* codes) {
  if (are_truth_values(stored, count)) return stored;
  for (int i = 0; i < count; ++i) codes[i] = stored[i] != std::byte{0} ? 1 : 0;
  return reinterpret_cast<const std::byte*>(codes);
}

Scale scale_of(const Shape& shape, const Metrics& metrics) {
  Scale scale;
  scale.last = shape.size() < 2 ? 0 : shape.back();
  scale.columns = scale.last > 0 && scale.last <= kMostColumns;
  const std::int64_t finite = metrics.count - metrics.taken_out;
  if (finite <= 0) return scale;
  scale.rms = std::sqrt(metrics.sum_a2 / static_cast<double>(finite));
  scale.rms_row = scale.rms * std::sqrt(static_cast<double>(scale.last));
  return scale;
}

class Examination {
 public:
  Examination(const Pair& pair, const Metrics& metrics, const Stop& stop)
      : pair_(pair),
        stop_(stop),
        rule_(rule_for(pair.reference->dtype, pair.candidate->dtype, true)),
        unit_(unit_of(rule_.a, rule_.b)),
        format_(unit_format(unit_, rule_.a, rule_.b)),
        whole_(common_whole(rule_.a, rule_.b)),
        parts_format_(unit_format(unit_, part_of(rule_.a), part_of(rule_.b))),
        count_(element_count(pair.reference->shape)),
        range_(range_elements(rule_.a, rule_.b)),
        scale_(scale_of(pair.reference->shape, metrics)),
        ulps_(unit_, count_, *rule_.isa) {
    if (whole_ || is_c64(rule_)) scale_.most = metrics.max_abs;  // of floats it was rounded as one
  }

  Detail run() {
    if (count_ == 0) return {};
    Worst worst(scale_);
    pass(&worst);
    while (!ulps_.done()) pass(nullptr);
    Detail detail = worst.take();
    detail.ulp_quantiles = ulps_.quantiles();
    return detail;
  }

 private:
  /// Visits every block once and counts ULPs; also measures for `worst`, if there is one.
  void pass(Worst* worst) {
    std::vector<UlpSelection::Counts> counts(static_cast<std::size_t>(threads()));
    const auto work = [&](std::size_t task) {
      if (stop_ && stop_()) throw Stopped();
      const std::int64_t begin = static_cast<std::int64_t>(task) * range_;
      RangeWorst part(*rule_.isa, scale_);
      visit_range(begin, std::min(range_, count_ - begin),
                  counts[static_cast<std::size_t>(worker()) % counts.size()],
                  worst != nullptr ? &part : nullptr);
      return part;
    };
    fold_in_order(static_cast<std::size_t>(ceil_div(count_, range_)), work,
                  [&](std::size_t, RangeWorst&& part) {
                    if (worst != nullptr) worst->fold(part);
                  });
    ulps_.finish_pass(counts);
  }

  void visit_range(std::int64_t begin, std::int64_t count, UlpSelection::Counts& counts,
                   RangeWorst* worst) {
    Buffers& buffers = Buffers::mine();
    const auto a = buffers.a(*pair_.reference, begin, count);
    const auto b = buffers.b(*pair_.candidate, begin, count);
    fetch(*pair_.reference, pair_.reference_map, begin, count, a);
    fetch(*pair_.candidate, pair_.candidate_map, begin, count, b);
    for (const LinearRange& hole : holes_of(pair_, begin, begin + count)) {
      clear_elements(rule_.a, a, hole.begin - begin, hole.end - begin);
      clear_elements(rule_.b, b, hole.begin - begin, hole.end - begin);
      counts.zeros -= hole.end - hole.begin;
    }
    Scratch& scratch = buffers.scratch();
    for (std::int64_t at = 0; at < count; at += kBlock) {
      const auto n = static_cast<int>(std::min<std::int64_t>(kBlock, count - at));
      const std::byte* stored_a = stored_at(rule_.a, a, at, n, scratch.codes_a);
      const std::byte* stored_b = stored_at(rule_.b, b, at, n, scratch.codes_b);
      if (rule_.a == DType::boolean && whole_) {
        stored_a = truth_values(stored_a, n, scratch.codes_a);
        stored_b = truth_values(stored_b, n, scratch.codes_b);
      }
      if (whole_ && *whole_ < Whole::u32) {
        visit_short({*whole_, stored_a, stored_b}, begin + at, n, counts, worst);
        continue;
      }
      if (is_c64(rule_) && visit_c64(stored_a, stored_b, begin + at, n, counts, worst)) continue;
      if (format_) {
        count_float_steps(stored_a, stored_b, n, scratch, counts);
        if (worst != nullptr) {
          rule_.isa->split(scratch.a, scratch.b, n, scratch.wide.a, scratch.wide.d);
        }
      } else if (!whole_ || !count_integer_steps(stored_a, stored_b, n, scratch, counts)) {
        Metrics found;
        decode_block(rule_, stored_a, stored_b, n, begin + at, scratch.wide, found,
                     Unequal::passed_over);
        count_steps(scratch, n, counts);
        counts.zeros -= found.taken_out;
      }
      if (worst != nullptr) {
        worst->add(scratch.wide.a, scratch.wide.d, begin + at, n, range_);
      }
    }
  }

  /// Complex numbers of two f32, by squares of moduli. False, and nothing done, where one is not
  /// finite.
  bool visit_c64(const std::byte* a, const std::byte* b, std::int64_t at, int count,
                 UlpSelection::Counts& counts, RangeWorst* worst) const {
    Scratch& scratch = Buffers::mine().scratch();
    WideBlock& squares = scratch.wide;
    if (!rule_.isa->squares_apart(a, b, count, squares.a, squares.b, squares.d)) return false;
    rule_.isa->complex_steps(a, b, count, *parts_format_, scratch.steps);
    add_steps(scratch, count, counts);
    if (worst != nullptr) worst->add_squares(squares.a, squares.d, at, count, range_);
    return true;
  }

  /// Integers of at most 16 bits are looked at as they are stored, but for outliers.
  void visit_short(const Integers& stored, std::int64_t at, int count, UlpSelection::Counts& counts,
                   RangeWorst* worst) const {
    if (worst != nullptr && worst->may_rise()) {
      Scratch& scratch = Buffers::mine().scratch();
      rule_.isa->integers_apart[static_cast<int>(stored.whole)](
          stored.a, stored.b, count, scratch.wide.a, scratch.wide.d, scratch.steps);
      worst->add_outliers(scratch.wide.a, scratch.wide.d, at, count);
    }
    if (worst != nullptr) worst->add(stored, at, count, range_);
    add_steps(stored, count, counts);
  }

  void add_steps(const Integers& stored, int count, UlpSelection::Counts& counts) const {
    const auto which = static_cast<std::size_t>(stored.whole);
    if (ulps_.takes_census()) {
      const Census census = rule_.isa->integer_census[which](stored.a, stored.b, count);
      if (census.largest < std::size(census.of)) {
        return ulps_.add(census, static_cast<std::size_t>(count), counts);
      }
    }
    Scratch& scratch = Buffers::mine().scratch();
    rule_.isa->integer_steps[which](stored.a, stored.b, count, scratch.steps);
    add_steps(scratch, count, counts);
  }

  /// Leaves both sides as floats in scratch, zero where either is not finite.
  void count_float_steps(const std::byte* a, const std::byte* b, int count, Scratch& scratch,
                         UlpSelection::Counts& counts) const {
    widen(*rule_.isa, rule_.a, a, count, scratch.a);
    widen(*rule_.isa, rule_.b, b, count, scratch.b);
    const int all = padded(count);
    const auto peak = rule_.isa->peak[static_cast<int>(Load::f32)];
    if (std::max(peak(scratch.a, all), peak(scratch.b, all)) >= kInfinityBits) {
      counts.zeros -=
          rule_.isa->take_out({scratch.a, scratch.b, all}, scratch.a, scratch.b).taken_out;
    }
    rule_.isa->ulps(scratch.a, scratch.b, count, *format_, scratch.steps);
    add_steps(scratch, count, counts);
  }

  /// Leaves a and the distances in the wide block. False, and nothing counted, where a distance
  /// does not fit.
  bool count_integer_steps(const std::byte* a, const std::byte* b, int count, Scratch& scratch,
                           UlpSelection::Counts& counts) const {
    if (!rule_.isa->integers_apart[static_cast<int>(*whole_)](a, b, count, scratch.wide.a,
                                                              scratch.wide.d, scratch.steps)) {
      return false;
    }
    add_steps(scratch, count, counts);
    return true;
  }

  /// Of a decoded block.
  void count_steps(Scratch& scratch, int count, UlpSelection::Counts& counts) const {
    if (!parts_format_) {
      for (int i = 0; i < count; ++i) ulps_.add(steps_at(scratch.wide, i), counts);
      return;
    }
    set_steps_of_parts(scratch, count);
    add_steps(scratch, count, counts);
  }

  void add_steps(const Scratch& scratch, int count, UlpSelection::Counts& counts) const {
    ulps_.add(std::span<const std::uint32_t>(scratch.steps, static_cast<std::size_t>(count)),
              counts);
  }

  std::uint64_t steps_at(const WideBlock& block, int i) const {
    if (block.d[i] == 0) return 0;
    if (!is_complex(rule_.a)) return ulp_distance(unit_, block.a[i], block.b[i]);
    return std::max(ulp_distance(unit_, block.parts[0][i], block.parts[2][i]),
                    ulp_distance(unit_, block.parts[1][i], block.parts[3][i]));
  }

  /// Those of the part that is further apart. Where d is 0 there are none.
  void set_steps_of_parts(Scratch& scratch, int count) const {
    const WideBlock& block = scratch.wide;
    std::array<std::uint32_t, kBlock> real;
    for (const int part : {0, 1}) {
      rule_.isa->narrow(block.parts[part], block.d, count, scratch.a);
      rule_.isa->narrow(block.parts[2 + part], block.d, count, scratch.b);
      rule_.isa->ulps(scratch.a, scratch.b, count, *parts_format_,
                      part == 0 ? real.data() : scratch.steps);
    }
    for (int i = 0; i < count; ++i) {
      scratch.steps[i] = std::max(scratch.steps[i], real[static_cast<std::size_t>(i)]);
    }
  }

  const Pair& pair_;
  const Stop& stop_;
  Rule rule_;
  DType unit_;
  std::optional<UnitFormat> format_;        ///< of real dtypes
  std::optional<Whole> whole_;              ///< of integers
  std::optional<UnitFormat> parts_format_;  ///< of complex ones
  std::int64_t count_;
  std::int64_t range_;
  Scale scale_;
  UlpSelection ulps_;
};

}  // namespace

Detail examine(const Pair& pair, const Metrics& metrics, const Stop& stop) {
  return Examination(pair, metrics, stop).run();
}

}  // namespace ttcheck::compare
