// SPDX-License-Identifier: Apache-2.0
#include "core/compare/unsettled.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/channels.hpp"
#include "core/compare/rms.hpp"
#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

constexpr double kSlack = 1e-3;  ///< of the step: rounding of the update itself

/// The error of what is not set apart.
struct Rest {
  explicit Rest(double rms_of_a) : rms(rms_of_a) {}

  double size_of(double value) const { return std::max(std::abs(value), rms); }

  void add(double value, double apart) {
    sum_a2 += value * value;
    if (apart == 0) return;
    sum_d2 += apart * apart;
    found.outlier = std::max(found.outlier, std::abs(apart) / size_of(value));
  }

  Unsettled take() {
    found.rel = sum_d2 == 0 ? 0 : std::sqrt(sum_d2 / sum_a2);
    return std::move(found);
  }

  double rms, sum_a2 = 0, sum_d2 = 0;
  Unsettled found;
};

/// The mean of b - a of each channel.
std::vector<double> mean_apart(Values& a, Values& b, std::int64_t count, const Channels& channels,
                               const Stop& stop) {
  std::vector<double> mean(static_cast<std::size_t>(channels.count));
  for_ranges(count, stop, [&](std::int64_t begin, std::int64_t size) {
    const auto left = a.read(begin, size), right = b.read(begin, size);
    for (std::size_t i = 0; i < left.size(); ++i) {
      mean[channels.of(begin + static_cast<std::int64_t>(i))] += right[i] - left[i];
    }
  });
  const auto rows = static_cast<double>(std::max<std::int64_t>(count / channels.count, 1));
  for (double& one : mean) one /= rows;
  return mean;
}

/// Both sides of a pair, a range at a time.
struct Sides {
  explicit Sides(const Pair& pair) : a(*pair.reference), b(*pair.candidate) {}

  void read(std::int64_t begin, std::int64_t count) {
    left = a.read(begin, count);
    right = b.read(begin, count);
  }

  double larger(std::size_t i) const { return std::max(std::abs(left[i]), std::abs(right[i])); }
  double apart(std::size_t i) const { return std::abs(left[i] - right[i]); }
  double part(std::size_t i) const { return larger(i) == 0 ? 0 : apart(i) / larger(i); }

  Values a, b;
  std::span<const double> left, right;
};

/// How far its gradients may have moved an element.
class Reach {
 public:
  Reach(const Pair* gradient, const NoiseRule& rule) : rule_(rule) {
    if (gradient != nullptr) gradient_.emplace(*gradient);
    if (rule.earlier != nullptr) earlier_.emplace(*rule.earlier);
  }

  void read(std::int64_t begin, std::int64_t count) {
    if (gradient_) gradient_->read(begin, count);
    if (earlier_) earlier_->read(begin, count);
  }

  double of(std::size_t i) const {
    if (!gradient_) return 0;
    const double larger = gradient_->larger(i), apart = gradient_->apart(i);
    if (rule_.zero > 0 && larger <= rule_.zero) return rule_.wander;
    if (!(apart <= rule_.gradient)) return 0;
    const double before = earlier_ ? earlier_->part(i) : 0;
    return rule_.step * std::min(1.0, gradient_->part(i) + before);
  }

  /// What it stood apart by before this update.
  double stood(std::int64_t at) const {
    if (rule_.before == nullptr) return 0;
    const auto found = rule_.before->find(at);
    return found == rule_.before->end() ? 0 : std::abs(found->second);
  }

 private:
  const NoiseRule& rule_;
  std::optional<Sides> gradient_, earlier_;
};

}  // namespace

std::optional<Unsettled> unsettled(const Pair& parameter, const Pair* gradient,
                                   const NoiseRule& rule, const Stop& stop) {
  const Shape& shape = parameter.reference->shape;
  if (!readable(parameter, shape)) return std::nullopt;
  if (gradient != nullptr && !readable(*gradient, shape)) return std::nullopt;
  if (rule.earlier != nullptr && !readable(*rule.earlier, shape)) return std::nullopt;
  Reach reach(gradient, rule);
  const double rounding_a = epsilon(parameter.reference->dtype) / 2;
  const double rounding_b = epsilon(parameter.candidate->dtype) / 2;
  Rest rest(rule.size > 0 ? rule.size : rms_of(*parameter.reference, stop));
  Values a(*parameter.reference), b(*parameter.candidate);
  bool many = false;
  for_ranges(element_count(shape), stop, [&](std::int64_t begin, std::int64_t size) {
    const auto left = a.read(begin, size), right = b.read(begin, size);
    reach.read(begin, size);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double apart = right[i] - left[i];
      const std::int64_t at = begin + static_cast<std::int64_t>(i);
      const bool beyond = std::abs(apart) > rule.outlier * rest.size_of(left[i]);
      const double stood = reach.stood(at);
      const bool carried = stood > 0;  // its moments still differ
      const double allowed = carried ? stood + rule.step : reach.of(i);
      const double rounding = std::abs(left[i]) * rounding_a + std::abs(right[i]) * rounding_b;
      if ((beyond || carried) && allowed > 0 &&
          std::abs(apart) <= allowed * (1 + kSlack) + rounding) {
        many = many || rest.found.apart.size() == kMostApart;
        if (!many) rest.found.apart.emplace(at, apart);
        rest.add(left[i], 0);
      } else {
        rest.add(left[i], apart);
      }
    }
  });
  if (many) return std::nullopt;
  return rest.take();
}

std::optional<Unsettled> less_bias(const Pair& output, const SetApart& bias,
                                   std::int64_t bias_count, double reach, double size_of_a,
                                   const Stop& stop) {
  const Shape& shape = output.reference->shape;
  const auto channels = channels_of(shape, bias_count);
  if (!channels || !readable(output, shape)) return std::nullopt;
  std::vector<double> shift(static_cast<std::size_t>(bias_count));
  for (const auto& [at, apart] : bias) shift.at(static_cast<std::size_t>(at)) = apart;
  Values a(*output.reference), b(*output.candidate);
  if (reach > 0) {
    const std::vector<double> mean = mean_apart(a, b, element_count(shape), *channels, stop);
    for (std::size_t i = 0; i < shift.size(); ++i) {
      shift[i] = std::clamp(mean[i], shift[i] - reach, shift[i] + reach);
    }
  }
  Rest rest(size_of_a > 0 ? size_of_a : rms_of(*output.reference, stop));
  for_ranges(element_count(shape), stop, [&](std::int64_t begin, std::int64_t size) {
    const auto left = a.read(begin, size), right = b.read(begin, size);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::size_t channel = channels->of(begin + static_cast<std::int64_t>(i));
      rest.add(left[i], right[i] - left[i] - shift[channel]);
    }
  });
  return rest.take();
}

}  // namespace ttcheck::compare
