// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/recompute/ops.hpp"
#include "core/recompute/product.hpp"

// softmax along the last dim:  p = exp(scale x - max) / sum;  dx = scale p (g - sum(g p))
// cross entropy of a token:    loss = m (log sum exp z - (1 - s) z[label] - s mean(z)), m its mask
// and s the label smoothing. A scalar loss is their sum over one, the tokens that count, or the sum
// of the masks. Backward, with q = (1 - s) onehot + s / V:  dz = g m (p - q).

namespace ttcheck::recompute {
namespace {

struct Exponentials {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;

  Exponentials(std::span<const double> row, double scale) {
    for (const double value : row) largest = std::max(largest, scale * value);
    for (const double value : row) sum += std::exp(scale * value - largest);
  }
  double log() const { return largest + std::log(sum); }
};

std::vector<double> numbers(const Operand& operand, std::int64_t begin, std::int64_t count) {
  std::vector<double> read(static_cast<std::size_t>(count));
  operand.read(begin, read);
  return read;
}

bool along_last(const Call& call, const Shape& shape) {
  const auto dim = call.attributes.number("dim");
  return !dim || *dim == -1 || *dim == static_cast<double>(shape.size()) - 1;
}

/// The tokens of one call of cross entropy.
struct Tokens {
  const Operand* logits = nullptr;
  const Operand* labels = nullptr;
  const Operand* mask = nullptr;  ///< may be null
  std::int64_t classes;
  double ignored, smoothing;
  /// Of labels that lie batch first where logits lie sequence first; else 1 and all.
  std::int64_t first, second;

  std::int64_t count() const { return labels->count(); }

  std::int64_t token_of(std::int64_t row) const { return row % first * second + row / first; }
  std::int64_t row_of(std::int64_t token) const { return token % second * first + token / second; }
  double label(std::int64_t token) const { return labels->held()[static_cast<std::size_t>(token)]; }
  bool counts(std::int64_t token) const {
    const double id = label(token);
    return id != ignored && id >= 0 && id < static_cast<double>(classes);
  }
  double weight(std::int64_t token) const {
    if (!counts(token)) return 0;
    return mask == nullptr ? 1 : mask->held()[static_cast<std::size_t>(token)];
  }

  double loss(std::int64_t token) const {
    if (!counts(token)) return 0;
    const std::vector<double> row = numbers(*logits, row_of(token) * classes, classes);
    double mean = 0;
    if (smoothing != 0) {
      for (const double value : row) mean += value / static_cast<double>(classes);
    }
    const double own = row[static_cast<std::size_t>(label(token))];
    return weight(token) * (Exponentials(row, 1).log() - (1 - smoothing) * own - smoothing * mean);
  }
};

std::vector<Tokens> tokens_of(const Call& call) {
  Tokens tokens;
  tokens.logits = call.argument(0);
  tokens.labels = call.argument(1);
  tokens.mask = call.argument(2);
  if (tokens.logits == nullptr || tokens.labels == nullptr || tokens.labels->held().empty() ||
      !is_exact(tokens.labels->dtype())) {
    return {};
  }
  tokens.classes = tokens.logits->width();
  if (tokens.classes < 1 || tokens.classes > kMostHeld || tokens.logits->rows() != tokens.count()) {
    return {};
  }
  if (tokens.mask != nullptr && tokens.mask->count() != tokens.count()) {
    if (tokens.mask->count() != 1) return {};
    tokens.mask = nullptr;  // what the sum is divided by
  }
  if (tokens.mask != nullptr && tokens.mask->held().empty()) return {};
  tokens.ignored = call.attributes.number("ignore_index").value_or(-100);
  tokens.smoothing = call.attributes.number("label_smoothing").value_or(0);
  tokens.first = 1;
  tokens.second = tokens.count();
  std::vector<Tokens> ways = {tokens};
  const Shape& shape = tokens.labels->shape();
  if (shape.size() == 2) {
    tokens.first = shape[0];
    tokens.second = shape[1];
    if (tokens.logits->shape() == Shape{shape[1], shape[0], tokens.classes}) ways.push_back(tokens);
  }
  return ways;
}

/// What a sum over the tokens may be divided by, commonest first.
std::vector<double> divisors(const Call& call, const Tokens& tokens) {
  double counted = 0, weights = 0;
  for (std::int64_t token = 0; token < tokens.count(); ++token) {
    counted += tokens.counts(token) ? 1 : 0;
    weights += tokens.weight(token);
  }
  const auto how = call.attributes.word("reduction");
  if (how == "sum") return {1};
  std::vector<double> found;
  if (how == "mean") {
    found = {counted, weights};
  } else {
    found = {weights, counted, 1};
  }
  std::erase_if(found, [](double value) { return !(value > 0); });
  return found;
}

Formula loss_of_tokens(const Tokens& tokens) {
  Formula formula = elementwise(static_cast<double>(tokens.classes) * 16,
                                [tokens](std::int64_t begin, std::span<double> out) {
                                  for (std::size_t i = 0; i < out.size(); ++i) {
                                    out[i] = tokens.loss(begin + static_cast<std::int64_t>(i));
                                  }
                                });
  formula.preferred = std::max<std::int64_t>(1, formula.preferred / tokens.classes);
  return formula;
}

Formula summed_loss(const Tokens& tokens, double divisor) {
  Formula formula =
      elementwise(static_cast<double>(tokens.classes) * static_cast<double>(tokens.count()) * 16,
                  [tokens, divisor](std::int64_t, std::span<double> out) {
                    double sum = 0;
                    for (std::int64_t token = 0; token < tokens.count(); ++token) {
                      sum += tokens.loss(token);
                    }
                    for (double& value : out) value = sum / divisor;
                  });
  formula.length = static_cast<double>(tokens.count());
  return formula;
}

/// The gradient of each token's loss: as recorded, or of a scalar loss.
struct Upstream {
  const Operand* of_tokens = nullptr;
  double of_all;

  double at(std::int64_t token) const {
    return of_tokens == nullptr ? of_all : of_tokens->held()[static_cast<std::size_t>(token)];
  }
};

std::vector<Upstream> upstreams(const Call& call, const Tokens& tokens) {
  double given = 1;
  for (const Operand* g : call.gradients) {
    if (g == nullptr) continue;
    if (g->held().empty()) return {};
    if (g->count() == tokens.count()) return {{g, {}}};
    if (g->count() != 1) return {};
    given = g->held()[0];
  }
  std::vector<Upstream> ways;
  for (const double divisor : divisors(call, tokens)) ways.push_back({nullptr, given / divisor});
  return ways;
}

void gradient_of_logits(const Tokens& tokens, const Upstream& upstream, std::int64_t begin,
                        std::span<double> out) {
  const auto classes = static_cast<std::size_t>(tokens.classes);
  tokens.logits->read(begin, out);
  for (std::size_t n = 0; n < out.size() / classes; ++n) {
    const std::span<double> row = out.subspan(n * classes, classes);
    const std::int64_t token =
        tokens.token_of(begin / tokens.classes + static_cast<std::int64_t>(n));
    const double factor = upstream.at(token) * tokens.weight(token);
    if (!tokens.counts(token)) {
      std::ranges::fill(row, 0.0);
      continue;
    }
    const Exponentials all(row, 1);
    const auto own = static_cast<std::size_t>(tokens.label(token));
    const double other = tokens.smoothing / static_cast<double>(tokens.classes);
    for (std::size_t i = 0; i < classes; ++i) {
      const double wanted = other + (i == own ? 1 - tokens.smoothing : 0);
      row[i] = factor * (std::exp(row[i] - all.largest) / all.sum - wanted);
    }
  }
}

}  // namespace

Formulas softmax_forward(const Call& call, const Target& target) {
  const Operand* const x = call.argument(0);
  if (x == nullptr || x->shape() != target.shape || target.slot != 0 ||
      !along_last(call, target.shape)) {
    return {};
  }
  const double scale = call.attributes.number("scale").value_or(1);
  const auto width = static_cast<std::size_t>(target.width());
  auto formula = by_rows(target.width(), 16, [=](std::int64_t begin, std::span<double> out) {
    x->read(begin, out);
    for (std::size_t at = 0; at < out.size(); at += width) {
      const std::span<double> row = out.subspan(at, width);
      const Exponentials all(row, scale);
      for (double& value : row) value = std::exp(scale * value - all.largest) / all.sum;
    }
  });
  if (!formula) return {};
  return {std::move(*formula)};
}

Formulas softmax_backward(const Call& call, const Target& target) {
  const Operand* const x = call.argument(0);
  const Operand* const g = call.gradient(0);
  const bool fits = x != nullptr && g != nullptr && x->shape() == target.shape &&
                    g->shape() == target.shape && target.part == Target::Part::argument;
  if (!fits || !along_last(call, target.shape)) return {};
  const double scale = call.attributes.number("scale").value_or(1);
  const auto width = static_cast<std::size_t>(target.width());
  auto formula = by_rows(target.width(), 32, [=](std::int64_t begin, std::span<double> out) {
    const std::vector<double> given = numbers(*g, begin, static_cast<std::int64_t>(out.size()));
    x->read(begin, out);
    for (std::size_t at = 0; at < out.size(); at += width) {
      const std::span<double> row = out.subspan(at, width);
      const auto from = std::span(given).subspan(at, width);
      const Exponentials all(row, scale);
      for (double& value : row) value = std::exp(scale * value - all.largest) / all.sum;
      const double along = dot(row, from);
      for (std::size_t i = 0; i < width; ++i) row[i] *= scale * (from[i] - along);
    }
  });
  if (!formula) return {};
  return {std::move(*formula)};
}

Formulas cross_entropy_forward(const Call& call, const Target& target) {
  Formulas formulas;
  for (const Tokens& tokens : tokens_of(call)) {
    if (target.count() == tokens.count()) formulas.push_back(loss_of_tokens(tokens));
    if (target.count() != 1) continue;
    for (const double divisor : divisors(call, tokens)) {
      formulas.push_back(summed_loss(tokens, divisor));
    }
  }
  return formulas;
}

Formulas cross_entropy_backward(const Call& call, const Target& target) {
  if (target.part != Target::Part::argument || target.slot != 0) return {};
  Formulas formulas;
  for (const Tokens& tokens : tokens_of(call)) {
    if (tokens.logits->shape() != target.shape) continue;
    for (const Upstream& upstream : upstreams(call, tokens)) {
      auto formula = by_rows(tokens.classes, 16, [=](std::int64_t begin, std::span<double> out) {
        gradient_of_logits(tokens, upstream, begin, out);
      });
      if (formula) formulas.push_back(std::move(*formula));
    }
  }
  return formulas;
}

}  // namespace ttcheck::recompute
