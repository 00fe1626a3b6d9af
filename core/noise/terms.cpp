// SPDX-License-Identifier: Apache-2.0
#include "core/noise/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ranges>

#include "core/base/interrupted.hpp"
#include "core/base/parent_of.hpp"
#include "core/compare/partial_sums.hpp"
#include "core/compare/rms.hpp"
#include "core/limits/model.hpp"
#include "core/noise/parameter_place.hpp"

namespace ttcheck::noise {
namespace {

constexpr std::string_view kWeight = "/weight", kBias = "/bias";

/// Gradients, or moments, of one phase and micro-batch.
std::string key_of(const Tensor& record, std::string_view place) {
  return fmt::format("{}/{}/{}/{}", static_cast<int>(record.identity.phase),
                     static_cast<int>(record.kind), record.identity.microbatch, place);
}

/// The key of a record of earlier steps, of which the last one is kept.
std::string key_of(Kind kind, std::string_view place) {
  return fmt::format("{}/{}", static_cast<int>(kind), place);
}

/// `l.0` of whatever a record of the module `l.0` is called.
std::string module_part(const std::string& place) { return place.substr(0, place.rfind('/')); }

double columns_of(const Tensor& weight) {
  return static_cast<double>(element_count(weight.shape)) /
         static_cast<double>(std::max<std::int64_t>(weight.shape.front(), 1));
}

/// 0 where it was read well before and cannot be now, or a signal came.
double read_size(const Tensor& tensor) {
  try {
    return compare::rms_of(tensor, interrupted);
  } catch (const Error&) {
    return 0;
  }
}

/// As `read_size`.
std::optional<compare::PartialSums> read_sums(const Tensor& terms, std::int64_t channels) {
  try {
    return compare::partial_sums(terms, channels, interrupted);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// How many elements of some outputs are of each channel of a bias.
double terms_a_channel(std::span<const Tensor* const> outputs, const Tensor& bias) {
  std::int64_t count = 0;
  for (const Tensor* const one : outputs) count += element_count(one->shape);
  return static_cast<double>(count) /
         static_cast<double>(std::max<std::int64_t>(element_count(bias.shape), 1));
}

/// The root mean square of several records together.
class MeanSquare {
 public:
  void add(double size) {
    sum_ += size * size;
    ++count_;
  }
  double root() const { return count_ == 0 ? 0 : std::sqrt(sum_ / count_); }

 private:
  double sum_ = 0, count_ = 0;
};

}  // namespace

bool is_slope(Kind kind) {
  return kind == Kind::grad || kind == Kind::main_grad || kind == Kind::moment1 ||
         kind == Kind::moment2;
}

Terms::Terms(const StepRecords& step, std::span<const TensorResult> results, const Carried& carried)
    : carried_(carried) {
  for (const TensorResult& one : results) {
    if (one.metrics.count > 0) measured_.emplace(step.pairs[one.pair].reference, &one.metrics);
  }
  for (std::size_t i = 0; i < step.known.size(); ++i) {
    const Metrics* const known = step.known[i];
    if (known != nullptr && known->count > 0) measured_.emplace(step.pairs[i].reference, known);
  }
  for (const auto& one : std::views::values(carried.parameters[0])) {
    if (!is_slope(one.tensor.kind)) continue;
    before_.emplace(key_of(one.tensor.kind, parameter_place(one.tensor)), &one.tensor);
  }
  for (const RecordPair& pair : step.pairs) {
    const Tensor& record = *pair.reference;
    const std::string place = parameter_place(record);
    const Phase phase = record.identity.phase;
    if (is_slope(record.kind)) {
      slopes_.emplace(key_of(record, place), &record);
      const std::string module = module_part(place);
      if (place.ends_with(kBias)) parents_[std::string(parent_of(module))].push_back(module);
    }
    if (record.kind == Kind::weight && phase != Phase::forward) weights_.emplace(place, &record);
    if (!record.identity.name.ends_with(".0")) continue;
    if (record.kind == Kind::grad_output) terms_[module_part(place)].push_back(&record);
    if (phase != Phase::forward) continue;
    if (record.kind == Kind::input) inputs_[module_part(place)].push_back(&record);
    if (record.kind == Kind::output) outputs_[module_part(place)].push_back(&record);
  }
}

double Terms::size_of(const Tensor& record) const {
  if (const auto known = measured_.find(&record); known != measured_.end()) {
    return known->second->reference_rms();
  }
  if (const StoredStats* const stats = statistics_alone(record)) return size_told(*stats);
  if (!record.stored || is_complex(record.dtype)) return 0;
  const auto [found, fresh] = read_.try_emplace(&record, 0);
  if (fresh) found->second = read_size(record);
  return found->second;
}

const Tensor* Terms::weight_beside(const Tensor& slope, std::string_view weight) const {
  const auto here = slopes_.find(key_of(slope, weight));
  const auto own = slopes_.find(key_of(slope, parameter_place(slope)));
  if (here != slopes_.end() && own != slopes_.end() && own->second == &slope) return here->second;
  const auto before = before_.find(key_of(slope.kind, weight));
  if (before != before_.end()) return before->second;
  return here == slopes_.end() ? nullptr : here->second;
}

/// The size of the module's input by what it put out: y = W x, so that rms(y)^2 = rms(x)^2 |W|^2 /
/// rows. 0 where its output or weight is not there.
double Terms::output_size(const std::string& module, const Tensor& weight) const {
  MeanSquare outputs;
  if (const auto found = outputs_.find(module); found != outputs_.end()) {
    for (const Tensor* const one : found->second) outputs.add(size_of(*one));
  }
  const auto own = weights_.find(module + std::string(kWeight));
  double size = own == weights_.end() ? 0 : size_of(*own->second);
  const auto before = carried_.parameters[0].find(module + "/param.weight");
  if (!(size > 0) && before != carried_.parameters[0].end()) size = size_of(before->second.tensor);
  return size > 0 ? outputs.root() / (size * std::sqrt(columns_of(weight))) : 0;
}

/// The size of the module's input by the other ops of the same parent that are as wide, most of
/// which share its input (queries, keys and values): of a bias whose terms do not cancel rms(dW) /
/// rms(db) is rms(x), of one whose terms do it is more. The median of them, the larger of two; 0
/// without any.
double Terms::size_beside(const std::string& module, const Tensor& weight) const {
  std::vector<double> sizes;
  const auto siblings = parents_.find(parent_of(module));
  if (siblings == parents_.end()) return 0;
  for (const std::string& other : siblings->second) {
    const auto of = slopes_.find(key_of(weight, other + std::string(kWeight)));
    const auto bias = slopes_.find(key_of(weight, other + std::string(kBias)));
    if (other == module || of == slopes_.end() || bias == slopes_.end()) continue;
    const Tensor& slope = *of->second;
    if (slope.shape.size() < 2 || columns_of(slope) != columns_of(weight)) continue;
    const double size = size_of(*bias->second);
    if (size > 0) sizes.push_back(size_of(slope) / size);
  }
  if (sizes.empty()) return 0;
  std::ranges::sort(sizes);
  return sizes[sizes.size() / 2];
}

/// rms of what goes into the op, as its module recorded it or as other records tell; 1 where none
/// does: it was normalised, as a rule.
double Terms::input_size(const std::string& module, const Tensor& weight) const {
  MeanSquare inputs;
  if (const auto found = inputs_.find(module); found != inputs_.end()) {
    for (const Tensor* const one : found->second) inputs.add(size_of(*one));
  }
  double size = inputs.root();
  if (!(size > 0)) size = output_size(module, weight);
  if (!(size > 0)) size = size_beside(module, weight);
  return size > 0 ? size : 1;
}

/// What adding the terms of a bias's gradient up one after the other may make of the sum, relative
/// to their root sum square, in the fp32 that accumulates them: sqrt(n) eps of n terms (Higham and
/// Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019, with lambda = 2), of
/// which what the module puts out tells the number.
double Terms::summing(const std::string& module, const Tensor& slope) const {
  const auto outputs = outputs_.find(module);
  if (outputs == outputs_.end()) return 0;
  return std::sqrt(terms_a_channel(outputs->second, slope)) * epsilon(DType::f32);
}

/// The same by the partial sums of the terms, where they were recorded: each is rounded by a random
/// u = eps / 2 of itself at most, so that all of it is u sqrt(sum of their squares), times lambda.
/// The k-th is sqrt(k) of the root sum square at most: terms that cannot have made `wanted` are not
/// read, and 0.
double Terms::adding_in_turn(const std::string& module, const Tensor& slope, double wanted) const {
  const auto records = terms_.find(module);
  if (records == terms_.end()) return 0;
  const double most = terms_a_channel(records->second, slope) / std::numbers::sqrt2;
  if (!(wanted <= most * epsilon(DType::f32))) return 0;
  const auto [found, fresh] = added_.try_emplace(module, 0);
  if (!fresh) return found->second;
  compare::PartialSums squares;
  for (const Tensor* const one : records->second) {
    const auto more = read_sums(*one, element_count(slope.shape));
    if (!more) return 0;
    squares.sums += more->sums;
    squares.terms += more->terms;
  }
  if (squares.terms > 0) {
    found->second = epsilon(DType::f32) * std::sqrt(squares.sums / squares.terms);
  }
  return found->second;
}

/// What both sides hold of a record at least, or are apart by; 0 where that was not measured.
double Terms::in_question(const Tensor& slope) const {
  const auto found = measured_.find(&slope);
  if (found == measured_.end()) return 0;
  const Metrics& metrics = *found->second;
  const double square = std::min(metrics.sum_d2, std::max(metrics.sum_a2, metrics.sum_b2));
  return std::sqrt(square / static_cast<double>(metrics.count));
}

std::optional<Magnitude> Terms::roundoff(const Tensor& slope, double op) const {
  if (!is_slope(slope.kind)) return std::nullopt;
  const auto beside = weight_place(parameter_place(slope));
  const Tensor* const weight = beside ? weight_beside(slope, *beside) : nullptr;
  if (weight == nullptr || weight->shape.empty()) return std::nullopt;
  const std::string module = module_part(*beside);
  // A weight of the bias's own shape is a norm's: it multiplies what was normalised.
  const double input = weight->shape == slope.shape ? 1 : input_size(module, *weight);
  const double size = size_of(*weight) / input;  // of the terms, together
  double times = std::max(op, summing(module, slope));
  if (slope.kind != Kind::moment2 && in_question(slope) > times * size) {
    times = std::max(times, adding_in_turn(module, slope, in_question(slope) / size));
  }
  const double usual = slope.kind == Kind::moment2
                           ? limits::kind_factor(slope) * times * times * size / input
                           : times * size;
  if (!(usual > 0) || !std::isfinite(usual)) return std::nullopt;
  return Magnitude{usual, limits::kOutlierFactor * usual};
}

std::optional<Magnitude> Terms::roundoff_beside(const Tensor& weight, double op) const {
  const double usual = op * size_of(weight);
  if (!(usual > 0) || !std::isfinite(usual)) return std::nullopt;
  return Magnitude{usual, limits::kOutlierFactor * usual};
}

std::optional<Sizes> sizes_of(const TensorResult& result, const RecordPair& pair) {
  Sizes sizes;
  const Metrics& metrics = result.metrics;
  if (metrics.count > 0) {
    const auto root = [&](double sum) {
      return std::sqrt(sum / static_cast<double>(metrics.count));
    };
    sizes.reference.usual = root(metrics.sum_a2);
    sizes.candidate.usual = root(metrics.sum_b2);
    sizes.apart = {root(metrics.sum_d2), metrics.max_abs};
    return sizes;
  }
  const StoredStats* const a = statistics_alone(*pair.reference);
  const StoredStats* const b = statistics_alone(*pair.candidate);
  if (a == nullptr || b == nullptr) return std::nullopt;
  sizes.reference = {size_told(*a), std::max(std::abs(a->min), std::abs(a->max))};
  sizes.candidate = {size_told(*b), std::max(std::abs(b->min), std::abs(b->max))};
  sizes.apart = apart_told(*a, *b);
  return sizes;
}

bool may_be_roundoff(const Sizes& sizes, const Magnitude& roundoff) {
  const auto within = [&](double usual, double most, double times) {
    return usual <= roundoff.usual && most <= times * roundoff.most;
  };
  const auto& [reference, candidate, apart] = sizes;
  if (within(apart.usual, apart.most, 1)) return true;
  return within(reference.usual, reference.most, 1) && within(candidate.usual, candidate.most, 1) &&
         apart.most <= 2 * roundoff.most;
}

}  // namespace ttcheck::noise
