#include "core/compare/unsettled.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/model/decode.hpp"
#include "core/model/gather.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kRange = 1 << 16;  ///< elements at a time; a multiple of 8 for packed types

/// Consecutive elements of a tensor as doubles.
class Values {
 public:
  explicit Values(const Tensor& tensor) : tensor_(tensor) {}

  std::span<const double> read(std::int64_t begin, std::int64_t count) {
    bytes_.resize(byte_size(tensor_.dtype, count));
    values_.resize(static_cast<std::size_t>(count));
    gather(tensor_, begin, count, bytes_);
    to_doubles(tensor_.dtype, bytes_.data(), count, values_.data());
    return values_;
  }

 private:
  const Tensor& tensor_;
  std::vector<std::byte> bytes_;
  std::vector<double> values_;
};

template <class Visit>
void for_ranges(std::int64_t count, const Stop& stop, Visit&& visit) {
  for (std::int64_t begin = 0; begin < count; begin += kRange) {
    if (stop && stop()) throw Stopped();
    visit(begin, std::min(kRange, count - begin));
  }
}

double rms_of(const Tensor& tensor, const Stop& stop) {
  Values values(tensor);
  double sum = 0;
  const std::int64_t count = element_count(tensor.shape);
  for_ranges(count, stop, [&](std::int64_t begin, std::int64_t size) {
    for (const double value : values.read(begin, size)) sum += value * value;
  });
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(count, 1)));
}

bool readable(const Pair& pair, const Shape& shape) {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.stored && tensor.shape == shape && tensor.holes.empty() &&
           !is_complex(tensor.dtype);
  };
  return !pair.mapped() && fits(*pair.reference) && fits(*pair.candidate);
}

}  // namespace

std::optional<Unsettled> unsettled(const Pair& parameter, const Pair& gradient,
                                   const NoiseRule& rule, double limit, const Stop& stop) {
  const Shape& shape = parameter.reference->shape;
  if (!readable(parameter, shape) || !readable(gradient, shape)) return std::nullopt;
  const double rms = rms_of(*parameter.reference, stop);
  const double quiet = rule.gradient * rms_of(*gradient.reference, stop);
  Values a(*parameter.reference), b(*parameter.candidate);
  Values ga(*gradient.reference), gb(*gradient.candidate);
  Unsettled found;
  double sum_a2 = 0, sum_d2 = 0;
  for_ranges(element_count(shape), stop, [&](std::int64_t begin, std::int64_t size) {
    const auto left = a.read(begin, size), right = b.read(begin, size);
    const auto slope = ga.read(begin, size), other = gb.read(begin, size);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double apart = std::abs(right[i] - left[i]);
      const double outlier = apart / std::max(std::abs(left[i]), rms);
      sum_a2 += left[i] * left[i];
      const bool noise = std::abs(slope[i]) <= quiet && std::abs(other[i]) <= quiet;
      if (noise && outlier > limit && apart <= rule.step) {
        ++found.set_apart;
        found.largest = std::max(found.largest, apart);
      } else if (apart > 0) {
        sum_d2 += apart * apart;
        found.outlier = std::max(found.outlier, outlier);
      }
    }
  });
  found.rel = sum_d2 == 0 ? 0 : std::sqrt(sum_d2 / sum_a2);
  return found;
}

}  // namespace ttcheck::compare
