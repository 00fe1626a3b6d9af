// SPDX-License-Identifier: Apache-2.0
#include "reports/off_by.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/model/zero_words.hpp"
#include "reports/escape.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// What a limit is made of.
std::string_view explaining(const Limit& limit) {
  switch (limit.kind) {
    case LimitKind::measured:
      return "what repeated runs showed";
    case LimitKind::tolerance:
      return "what is tolerated";
    default:
      return "what rounding explains";
  }
}

/// "250,000 times", "1.3 times", "34 % of": two digits.
std::string times_words(double ratio) {
  if (!std::isfinite(ratio)) return "beyond";
  if (ratio < 1) return in_percent(ratio) + " of";
  if (ratio < 9.95) return fmt::format("{:.1f} times", ratio);
  if (ratio >= 1e9) return fmt::format("{:.1e} times", ratio);
  const double unit = std::pow(10, std::floor(std::log10(ratio)) - 1);
  return thousands(std::llround(std::round(ratio / unit) * unit)) + " times";
}

/// What is off, by the test that decided.
std::string_view subject_of(Test test) {
  switch (test) {
    case Test::row:
      return "its worst row is off by";
    case Test::outlier:
      return "its worst element is off by";
    case Test::moved:
      return "its values are off, on average, by";
    case Test::recomputed:
      return "recomputed from its own inputs it is off by";
    case Test::lean:
      return "most of its values are off to one side, by";
    case Test::own:
      return "behind inputs that are equal it is off by";
    case Test::rest:
      return "but for one value that both sides hold it is off by";
    case Test::terms:
      return "beside what it sums it is off by";
    case Test::statistics:
      return "a stored norm, mean, smallest or largest value is off by";
    default:
      return "it is off by";
  }
}

bool admits_none(const TensorResult& result) {
  return result.limit.kind == LimitKind::exact || result.limit.kind == LimitKind::copy;
}

/// Why no element may differ: what stands behind the colon of the limit's source.
std::string why_none(const Limit& limit) {
  const std::size_t colon = limit.source.find(": ");
  return terminal_text(colon == std::string::npos ? limit.source : limit.source.substr(colon + 2));
}

std::string differing(const Metrics& metrics) {
  return fmt::format("{} of {} differ{}", thousands(metrics.unequal_values),
                     counted(metrics.count, "element"), metrics.unequal_values == 1 ? "s" : "");
}

/// What no number says; empty where one does.
std::string said_without_number(const TensorResult& result) {
  const Metrics& metrics = result.metrics;
  switch (result.test) {
    case Test::hash:
      return "the stored hashes differ";
    case Test::replica:
      return "copies of it differ from each other";
    case Test::unmoved:
      return "the update left it as it was";
    case Test::grid:
      return "its values are those of a 16-bit type, where the reference's are finer";
    default:
      break;
  }
  if (metrics.non_finite_disagree > 0) {
    return fmt::format("{} of {} {} NaN or infinite on one side only",
                       thousands(metrics.non_finite_disagree), counted(metrics.count, "element"),
                       metrics.non_finite_disagree == 1 ? "is" : "are");
  }
  return zero_words(result);
}

std::string plain(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

}  // namespace

std::string in_percent(double share) {
  if (std::isnan(share)) return "nan";
  if (std::isinf(share)) return "inf";
  const double percent = 100 * std::fabs(share);
  constexpr double kLeast = 1e-7, kMost = 1e7;
  if (percent == 0) return "0 %";
  if (percent < kLeast || percent >= kMost) return fmt::format("{:.1e} %", percent);
  const int power = static_cast<int>(std::floor(std::log10(percent)));
  const double unit = std::pow(10, power - 1);  // of the second digit
  const double rounded = std::round(percent / unit) * unit;
  if (rounded >= 100) return thousands(std::llround(rounded)) + " %";
  const int decimals = std::max(0, 1 - static_cast<int>(std::floor(std::log10(rounded) + 1e-9)));
  return fmt::format("{:.{}f} %", rounded, decimals);
}

std::string off_words(const TensorResult& result) {
  if (std::string said = said_without_number(result); !said.empty()) return said;
  if (result.test == Test::elementwise && std::isfinite(result.error)) {
    return fmt::format("its worst element is off by {} times what is tolerated",
                       short_number(result.error));
  }
  if (result.test == Test::energy) {
    return fmt::format("the two groups of runs are apart by {} times what chance makes of them",
                       short_number(result.ratio));
  }
  if (result.limit.kind == LimitKind::copy) {
    return fmt::format("{}, by {} in all; the two are copies, so none should",
                       differing(result.metrics), in_percent(result.metrics.rel()));
  }
  if (admits_none(result) || result.test == Test::elementwise) {
    return fmt::format("{}, by {} in all; none may: {}", differing(result.metrics),
                       in_percent(result.metrics.rel()), why_none(result.limit));
  }
  std::string text =
      fmt::format("{} {}, {} {} ({})", subject_of(result.test), in_percent(result.error),
                  times_words(result.ratio), explaining(result.limit), in_percent(result.allowed));
  if (result.is_borderline()) text += ": borderline";
  return text;
}

std::string off_cell(const TensorResult& result) {
  const Metrics& metrics = result.metrics;
  if (metrics.non_finite_disagree > 0 || result.test == Test::non_finite) return "NaN";
  if (result.test == Test::hash) return "hash";
  if (result.test == Test::elementwise && std::isfinite(result.error)) {
    return short_number(result.error) + " tol";
  }
  const bool of_all = admits_none(result) || result.test == Test::grid ||
                      result.test == Test::replica || result.test == Test::unmoved;
  const double share = of_all && metrics.count > 0 ? metrics.rel() : result.error;
  return std::isfinite(share) ? in_percent(share) : "";
}

std::string explained_cell(const TensorResult& result) {
  if (result.test == Test::hash || result.test == Test::elementwise) return "";
  if (admits_none(result)) return "0 %";
  return std::isfinite(result.allowed) ? in_percent(result.allowed) : "";
}

std::string values_words(const TensorResult& result) {
  if (!result.values) return "";
  const auto [a, b] = *result.values;
  constexpr int kShort = 4, kExact = 17;
  int digits = kShort;
  while (digits < kExact && plain(a, digits) == plain(b, digits)) ++digits;
  return fmt::format("{} in the reference, {} in the candidate", plain(a, digits),
                     plain(b, digits));
}

}  // namespace ttcheck::reports
