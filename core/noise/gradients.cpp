#include "core/noise/gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/compare/rms.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {
namespace {

constexpr double kInputs = 8;  // what a weight's terms are multiplied with may be smaller than 1

bool is_open(const TensorResult& result) {
  return is_slope(result.kind) && is_open_to_noise(result);
}

/// Of one element, as the root mean square over all and at most.
struct Spread {
  double usual = 0, most = 0;
};

double usual_of(const StoredStats& stats, double l2) {
  return l2 / std::sqrt(static_cast<double>(std::max<std::int64_t>(stats.numel, 1)));
}

/// What a and b are apart by, as far as statistics tell.
Spread apart_by(const StoredStats& a, const StoredStats& b) {
  Spread size;
  if (a.l2 && b.l2) size.usual = usual_of(a, std::abs(*b.l2 - *a.l2));
  size.most = std::max(std::abs(b.min - a.min), std::abs(b.max - a.max));
  if (a.mean && b.mean) size.most = std::max(size.most, std::abs(*b.mean - *a.mean));
  return size;
}

double size_of(const StoredStats& stats) {
  return stats.l2 ? usual_of(stats, *stats.l2) : std::max(std::abs(stats.min), std::abs(stats.max));
}

/// 0 where it was read well before and cannot be now, or a signal came: the result stands.
double attempt(const Tensor& tensor) {
  try {
    return compare::rms_of(tensor, interrupted);
  } catch (const Error&) {
    return 0;
  }
}

/// Gradients, or moments, of one phase and micro-batch.
std::string key_of(const Tensor& record, std::string_view place) {
  return fmt::format("{}/{}/{}/{}", static_cast<int>(record.identity.phase),
                     static_cast<int>(record.kind), record.identity.microbatch, place);
}

/// The reference's, of biases too, by what key_of makes of their places.
NameMap<const Tensor*> slopes_of(std::span<const RecordPair> pairs) {
  NameMap<const Tensor*> slopes;
  for (const RecordPair& pair : pairs) {
    const Tensor& record = *pair.reference;
    if (is_slope(record.kind)) slopes.emplace(key_of(record, parameter_place(record)), &record);
  }
  return slopes;
}

}  // namespace

const StoredStats* statistics_alone(const Tensor& tensor) {
  return !tensor.stored && tensor.trace && tensor.trace->stats ? &*tensor.trace->stats : nullptr;
}

bool is_slope(Kind kind) {
  return kind == Kind::grad || kind == Kind::main_grad || kind == Kind::moment1 ||
         kind == Kind::moment2;
}

bool settle_by_terms(TensorResult& result, const Tensor& reference, const Tensor& candidate,
                     const Tensor& terms) {
  Spread apart{result.metrics.rmse(), result.metrics.max_abs};
  double usual = 0;
  if (reference.stored && candidate.stored && terms.stored && !is_complex(terms.dtype)) {
    usual = attempt(terms);
  } else {
    const StoredStats* const a = statistics_alone(reference);
    const StoredStats* const b = statistics_alone(candidate);
    const StoredStats* const of = statistics_alone(terms);
    if (a == nullptr || b == nullptr || of == nullptr) return false;
    apart = apart_by(*a, *b);
    usual = size_of(*of);
  }
  usual *= kInputs;
  const double ratio = std::max(apart.usual / (result.limit.rel * usual),
                                apart.most / (result.limit.outlier * usual));
  if (!(ratio <= 1)) return false;  // also where a number is none
  verdict::set_test(result, "terms", apart.usual / usual, result.limit.rel);
  result.limit.source += "; of what its weight's is, which sums the same terms";
  excuse(result);
  return true;
}

bool is_noise_by_statistics(const Tensor& reference, const Tensor& candidate, const Tensor& terms,
                            const Limit& limit) {
  const StoredStats* const a = statistics_alone(reference);
  const StoredStats* const b = statistics_alone(candidate);
  const StoredStats* const of = statistics_alone(terms);
  if (a == nullptr || b == nullptr || of == nullptr) return false;
  return std::max(size_of(*a), size_of(*b)) <= limit.rel * kInputs * size_of(*of);
}

bool settle_gradients(const StepRecords& step, std::span<TensorResult> results) {
  if (!step.trace || std::ranges::none_of(results, is_open)) return false;
  const NameMap<const Tensor*> slopes = slopes_of(step.pairs);
  bool any = false;
  for (TensorResult& result : results) {
    if (!is_open(result)) continue;
    const RecordPair& bias = step.pairs[result.pair];
    const auto beside = weight_place(parameter_place(*bias.reference));
    const auto weight = beside ? slopes.find(key_of(*bias.reference, *beside)) : slopes.end();
    if (weight == slopes.end()) continue;
    any = settle_by_terms(result, *bias.reference, *bias.candidate, *weight->second) || any;
  }
  return any;
}

}  // namespace ttcheck::noise
