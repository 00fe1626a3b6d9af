// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/bound_calls.hpp"

#include <algorithm>
#include <cmath>

#include "core/recompute/ops.hpp"

namespace ttcheck::recompute {
namespace {

constexpr std::size_t kMostWays = 24;

}  // namespace

bool BoundCalls::bind() {
  if (!Operand::readable(target_)) return false;
  for (const Maker& maker : makers_) {
    const Op* const op = find_op(maker.record->trace->op);
    if (op == nullptr) return false;
    Call call;
    call.op = op->name;
    call.attributes = Attributes(maker.record->trace->attrs);
    for (const Tensor* one : maker.arguments) call.arguments.push_back(operand(one));
    for (const Tensor* one : maker.gradients) call.gradients.push_back(operand(one));
    call.weight = operand(maker.weight);
    call.bias = operand(maker.bias);
    calls_.push_back(std::move(call));
    roundings_ = std::max(roundings_, op->roundings);
  }
  dumped_.emplace(target_, rank_);
  eps_ = std::max(eps_, epsilon(target_.dtype));
  return eps_ > 0;
}

Formulas BoundCalls::ways(const std::vector<Call>& calls) const {
  std::vector<Formulas> parts;
  std::size_t count = 1;
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const Op& op = *find_op(calls[n].op);
    const Target target{makers_[n].part, makers_[n].slot, target_.shape};
    const bool forward = target.part == Target::Part::output;
    parts.push_back(forward ? op.forward(calls[n], target) : op.backward(calls[n], target));
    if (parts.back().empty()) return {};
    // Calls of one op were meant in one way, so several of them have no more ways than one.
    if (n == 0 || calls[n].op != calls[n - 1].op) count *= parts.back().size();
  }
  Formulas all;
  for (std::size_t way = 0; way < std::min(count, kMostWays); ++way) {
    std::vector<Formula> addends;
    std::size_t rest = way, digit = 0;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      if (n == 0 || calls[n].op != calls[n - 1].op) {
        digit = rest % parts[n].size();
        rest /= parts[n].size();
      }
      addends.push_back(parts[n][std::min(digit, parts[n].size() - 1)]);
    }
    auto sum = sum_of(std::move(addends));
    if (!sum) return {};
    all.push_back(std::move(*sum));
  }
  return all;
}

double BoundCalls::limit(const Formula& formula) const {
  const bool narrow = eps_ > epsilon(DType::f32);
  if (narrow) return eps_ * (kNarrowRounding + roundings_);
  return eps_ * (kAccumulate + std::sqrt(formula.length)) * roundings_;
}

const Operand* BoundCalls::operand(const Tensor* tensor) {
  if (tensor == nullptr || !Operand::readable(*tensor)) return nullptr;
  const auto [at, fresh] = places_.try_emplace(tensor, nullptr);
  if (fresh) {
    at->second = &operands_.emplace_back(*tensor, rank_);
    eps_ = std::max(eps_, epsilon(tensor->dtype));
  }
  return at->second;
}

}  // namespace ttcheck::recompute
