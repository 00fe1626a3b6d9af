// SPDX-License-Identifier: Apache-2.0
// A dump holds tensors by name and no graph, so what a call took is put together from the slots
// of one key. A backward call and the gradients of parameters have the key of their forward call
// but for one word, and the forward call's slots, by the function's signature, say what each
// operand is. Where a tensor stands in a slot that the signature does not know, no call is told,
// only the op.
//
// The hard part is which operand a gradient belongs to: a backward call lists its outputs as
// autograd's own function takes its inputs, which need not be the arguments that were written.
// The n-th is taken for the n-th operand of floats if their shapes agree, else for the only one
// of its shape, else for the weight whose shape is the transposed one; if there is none, no call
// is told. Places from the 17th on count as unknown.

#include "formats/dumps/msprobe/calls.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "core/base/digits.hpp"

namespace ttcheck::formats {
namespace {

using Role = TorchParameter::Role;

constexpr std::string_view kForward = "forward", kBackward = "backward",
                           kGradients = "parameters_grad";
constexpr std::size_t kMostPlaces = 16;

/// `linear` of `Functional.linear.forward`, and whether it is the class of a module.
std::pair<std::string_view, bool> function_of(const MsprobeOp& op) {
  std::string_view base = op.base;
  base = base.substr(0, std::min(base.rfind('.'), base.size()));  // without the direction
  const bool module = base.starts_with("Module.") || base.starts_with("Cell.");
  return {base.substr(base.rfind('.') + 1), module};
}

/// The word behind the last dot of a key, or before the counter that stands there: names of modules
/// may have the same words in them.
std::string_view direction_in(std::string_view key) {
  const std::size_t counter = key.rfind('.');
  if (counter != std::string_view::npos && is_number(key.substr(counter + 1))) {
    key = key.substr(0, counter);
  }
  return key.substr(key.rfind('.') + 1);
}

/// The key with another direction.
std::string directed(std::string_view key, std::string_view direction) {
  const std::string_view own = direction_in(key);
  const auto at = static_cast<std::size_t>(own.data() - key.data());
  return std::string(key).replace(at, own.size(), direction);
}

/// The key of the forward call that a backward one, or gradients of parameters, belong to.
std::string forward_key(std::string_view key) {
  const std::string_view own = direction_in(key);
  return own == kBackward || own == kGradients ? directed(key, kForward) : std::string(key);
}

/// `input`, `1`, `.0` of `input.1.0`.
std::tuple<std::string_view, std::string_view, std::string_view> parts_of_slot(
    std::string_view slot) {
  const std::size_t first = std::min(slot.find('.'), slot.size());
  const std::string_view rest = slot.substr(std::min(first + 1, slot.size()));
  const std::size_t second = std::min(rest.find('.'), rest.size());
  return {slot.substr(0, first), rest.substr(0, second), rest.substr(second)};
}

std::optional<std::size_t> place_in(std::string_view text) {
  std::size_t place = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, place);
  if (error != std::errc() || at != end || place >= kMostPlaces) return std::nullopt;
  return place;
}

/// The parameter that stands in a slot of a forward call, if it is that itself and no part of it.
const TorchParameter* parameter_in(const TorchSignature& signature, std::string_view slot) {
  const auto [what, which, rest] = parts_of_slot(slot);
  if (what == "kwargs") return signature.named(which);
  const auto place = place_in(which);
  return what == "input" && place ? signature.at(*place) : nullptr;
}

MsprobeCalls::Arguments attributes_of(const TorchSignature& signature,
                                      const MsprobeCalls::Arguments& scalars) {
  MsprobeCalls::Arguments made;
  for (const auto& [slot, text] : scalars) {
    const TorchParameter* const parameter = parameter_in(signature, slot);
    const std::string rest(std::get<2>(parts_of_slot(slot)));
    made.emplace_back(parameter == nullptr ? slot : std::string(parameter->words) + rest, text);
  }
  return made;
}

/// Tensors that went into a call, by their role.
struct Given {
  OpCall call;
  std::vector<std::tuple<OpPart, std::size_t, const Shape*>> differentiable;  ///< in their order
};

void put(Given& given, const TorchParameter& parameter, const MsprobeItem& item) {
  OpCall& call = given.call;
  OpPart part = OpPart::argument;
  if (parameter.role == Role::weight) {
    part = OpPart::weight;
    call.weight = item.name;
  } else if (parameter.role == Role::bias) {
    part = OpPart::bias;
    call.bias = item.name;
  } else {
    if (call.arguments.size() <= parameter.place) call.arguments.resize(parameter.place + 1);
    call.arguments[parameter.place] = item.name;
  }
  if (item.floats) given.differentiable.emplace_back(part, parameter.place, item.shape);
}

/// False where a tensor stands where the op knows of none.
bool take(const TorchSignature& signature, const std::vector<MsprobeItem>& tensors, Given& given) {
  for (const MsprobeItem& item : tensors) {
    const TorchParameter* const parameter = parameter_in(signature, item.slot);
    const bool whole = std::get<2>(parts_of_slot(item.slot)).empty();
    if (parameter == nullptr || parameter->role == Role::attribute || !whole) return false;
    put(given, *parameter, item);
  }
  return true;
}

bool is_transposed(const Shape& shape, const Shape& of) {
  return shape.size() == 2 && of.size() == 2 && shape[0] == of[1] && shape[1] == of[0];
}

/// Finds the operand of which a gradient is that a function's backward put out as the n-th: of the
/// n-th one that has gradients, or of the only one of its shape. Autograd lists them as its own
/// functions have them, which may be others than the one that was called.
bool find_part(const Given& given, std::size_t n, const Shape* shape, OpCall& call) {
  const auto take_one = [&](const auto& operand) {
    std::tie(call.part, call.slot, std::ignore) = operand;
    return true;
  };
  const auto& all = given.differentiable;
  const auto fits = [&](const auto& operand) {
    const Shape* const own = std::get<2>(operand);
    return shape == nullptr || own == nullptr || *own == *shape;
  };
  if (n < all.size() && fits(all[n])) return take_one(all[n]);
  if (std::ranges::count_if(all, fits) == 1) return take_one(*std::ranges::find_if(all, fits));
  for (const auto& operand : all) {
    const Shape* const own = std::get<2>(operand);
    const bool weight =
        std::get<0>(operand) == OpPart::weight && shape != nullptr && own != nullptr;
    if (weight && is_transposed(*shape, *own)) return take_one(operand);
  }
  return false;
}

}  // namespace

void MsprobeCalls::add(const MsprobeItem& item) {
  Call& call = calls_[item.key];
  const std::string_view what = std::get<0>(parts_of_slot(item.slot));
  auto& to = what == "output" ? call.gotten : what == "parameters" ? call.parameters : call.given;
  to.push_back(item);
}

void MsprobeCalls::add(std::string_view key, const Arguments& arguments) {
  calls_[key].scalars = &arguments;
}

const MsprobeCalls::Call* MsprobeCalls::find(std::string_view key) const {
  const auto found = calls_.find(key);
  return found == calls_.end() ? nullptr : &found->second;
}

std::optional<OpCall> MsprobeCalls::call_of(const MsprobeItem& item,
                                            const TorchSignature& signature) const {
  const std::string key = forward_key(item.key);
  const Call* const forward = find(key);
  Given given;
  if (forward == nullptr || !take(signature, forward->given, given)) return std::nullopt;
  OpCall& call = given.call;
  for (const MsprobeItem& parameter : forward->parameters) {
    const auto own = std::get<1>(parts_of_slot(parameter.slot));
    if (own == "weight" || own == "gamma") call.weight = parameter.name;
    if (own == "bias" || own == "beta") call.bias = parameter.name;
  }
  const auto [what, which, rest] = parts_of_slot(item.slot);
  const auto place = place_in(which);
  if (item.op->gradients) {
    if (item.slot != "weight" && item.slot != "bias") return std::nullopt;
    call.part = item.slot == "bias" ? OpPart::bias : OpPart::weight;
  } else if (what != "output" || !place || !rest.empty()) {
    return std::nullopt;
  } else if (!item.op->backward) {
    call.slot = *place;
  } else if (!find_part(given, *place, item.shape, call)) {
    return std::nullopt;
  }
  if (!item.op->backward) return std::move(call);
  const Call* const backward = find(directed(key, kBackward));
  if (backward == nullptr) return std::nullopt;
  for (const MsprobeItem& gradient : backward->given) call.gradients.emplace_back(gradient.name);
  return std::move(call);
}

void MsprobeCalls::tell(const MsprobeItem& item, TraceRecord& record) const {
  if (item.op->debug || item.op->base.empty()) return;
  const Call* const forward = find(forward_key(item.key));
  if (forward != nullptr && forward->scalars != nullptr) record.attrs = *forward->scalars;
  const auto [name, module] = function_of(*item.op);
  const auto signature = module ? torch_module(name) : torch_function(name);
  record.op = signature ? signature->op : name;
  if (!signature) return;
  record.attrs = attributes_of(*signature, record.attrs);
  record.call = call_of(item, *signature);
}

}  // namespace ttcheck::formats
