// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/recompute/ops.hpp"

// What an optimizer's calls do, element by element, to tensors of one shape: torch's addcmul,
// addcdiv and lerp (torch/_torch_docs.py), with the number that the call states.

namespace ttcheck::recompute {
namespace {

/// The operands' elements at one place, and the call's number.
struct Place {
  double a, b, c, number;
};

struct Update {
  std::string_view op;
  std::string_view number;      ///< the attribute
  std::optional<double> usual;  ///< where the call does not state it
  std::size_t operands;
  double (*value)(const Place& at);
  std::array<double (*)(const Place& at), 3> slopes;  ///< along each operand
};

/// All that update_forward and update_backward stand for in the ops' table.
constexpr Update kUpdates[] = {
    {"addcmul",
     "value",
     1.0,
     3,
     [](const Place& at) { return at.a + at.number * at.b * at.c; },
     {[](const Place&) { return 1.0; }, [](const Place& at) { return at.number * at.c; },
      [](const Place& at) { return at.number * at.b; }}},
    {"addcdiv",
     "value",
     1.0,
     3,
     [](const Place& at) { return at.a + at.number * at.b / at.c; },
     {[](const Place&) { return 1.0; }, [](const Place& at) { return at.number / at.c; },
      [](const Place& at) { return -at.number * at.b / (at.c * at.c); }}},
    {"lerp",
     "weight",
     {},
     2,
     [](const Place& at) { return at.a + at.number * (at.b - at.a); },
     {[](const Place& at) { return 1 - at.number; }, [](const Place& at) { return at.number; },
      nullptr}},
};

/// The call's operands, each of the target's shape; empty if not.
std::vector<const Operand*> operands_of(const Call& call, const Update& update,
                                        const Target& target) {
  std::vector<const Operand*> all(call.arguments.begin(), call.arguments.end());
  const auto fits = [&](const Operand* one) {
    return one != nullptr && one->shape() == target.shape;
  };
  if (all.size() != update.operands || !std::ranges::all_of(all, fits)) return {};
  return all;
}

/// `make` of each place, times the gradient if there is one.
Formulas made(std::vector<const Operand*> all, double number, double (*make)(const Place&),
              const Operand* gradient) {
  return {elementwise(
      4, [all = std::move(all), number, make, gradient](std::int64_t begin, std::span<double> out) {
        std::array<std::vector<double>, 3> values;
        for (std::size_t n = 0; n < values.size(); ++n) {
          values[n].resize(out.size());
          if (n < all.size()) all[n]->read(begin, values[n]);
        }
        std::ranges::fill(out, 1.0);
        if (gradient != nullptr) gradient->read(begin, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] *= make({values[0][i], values[1][i], values[2][i], number});
        }
      })};
}

Formulas update_of(const Call& call, const Target& target, bool backward) {
  const auto* const update = std::ranges::find(kUpdates, call.op, &Update::op);
  auto number = call.attributes.number(update->number);
  if (!number) number = update->usual;
  std::vector<const Operand*> all = operands_of(call, *update, target);
  if (!number || all.empty()) return {};
  if (!backward)
    return target.slot == 0 ? made(std::move(all), *number, update->value, nullptr) : Formulas();
  const Operand* const g = call.gradient(0);
  const bool fits = g != nullptr && g->shape() == target.shape &&
                    target.part == Target::Part::argument && target.slot < update->operands;
  if (!fits) return {};
  return made(std::move(all), *number, update->slopes[target.slot], g);
}

}  // namespace

Formulas update_forward(const Call& call, const Target& target) {
  return update_of(call, target, false);
}

Formulas update_backward(const Call& call, const Target& target) {
  return update_of(call, target, true);
}

}  // namespace ttcheck::recompute
