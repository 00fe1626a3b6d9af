// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/name_map.hpp"

namespace ttcheck::recompute {
namespace {

constexpr std::size_t kMostArguments = 16;
constexpr std::size_t kMostOutputs = 8;
constexpr std::size_t kMostAlike = 256;   // records of one name that are looked through
constexpr std::size_t kMostAddends = 64;  // calls that one gradient comes from

/// What follows the kind: `0` of `m/output.0`.
std::string_view slot_text(std::string_view name) {
  const std::size_t dot = name.find('.', name.rfind('/') + 1);  // without a slash from the start
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

std::optional<std::size_t> slot_number(std::string_view name) {
  const std::string_view text = slot_text(name);
  std::size_t slot = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, slot);
  if (error != std::errc() || at != end || slot >= kMostArguments) return std::nullopt;
  return slot;
}

bool is_call(const Tensor& record) {
  const Phase phase = record.identity.phase;
  const bool made = record.kind == Kind::output || record.kind == Kind::loss;
  return made && (phase == Phase::forward || phase == Phase::loss) && record.trace &&
         !record.trace->op.empty() && !record.trace->call;
}

std::int32_t first_rank(const Tensor& tensor) {
  return tensor.pieces.empty() ? kNoRank : tensor.pieces.front().rank;
}

bool is_parameter(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash != std::string_view::npos && name.substr(slash + 1).starts_with("param.");
}

/// `<module>/param.<slot>` of a gradient's record.
std::string parameter_of(const Tensor& gradient) {
  if (gradient.trace && !gradient.trace->owner.empty()) {
    const std::string& owner = gradient.trace->owner;
    const std::size_t dot = owner.rfind('.');
    if (dot != std::string::npos) {
      return fmt::format("{}/param.{}", owner.substr(0, dot), owner.substr(dot + 1));
    }
  }
  return fmt::format("{}/param.{}", module_of(gradient.identity),
                     slot_text(gradient.identity.name));
}

}  // namespace

Graph::Graph(std::span<const Tensor> tensors, const Parameters& earlier,
             std::optional<std::int64_t> step)
    : earlier_(earlier), step_(step) {
  for (const Tensor& tensor : tensors) {
    const Identity& id = tensor.identity;
    by_name_[{id.name, id.microbatch}].push_back(&tensor);
    const bool gradient = tensor.kind == Kind::grad && id.phase == Phase::backward;
    if (gradient && id.microbatch == 0) gradients_.insert(parameter_of(tensor));
  }
  NameSet seen;  // outputs of one call have the same inputs
  for (const Tensor& tensor : tensors) {
    if (!is_call(tensor)) continue;
    const Identity& id = tensor.identity;
    const std::string call = fmt::format("{}/{}/{}/{}", static_cast<int>(id.phase), id.microbatch,
                                         id.call, module_of(id));
    if (seen.insert(call).second) note_uses(tensor);
  }
}

void Graph::note_uses(const Tensor& record) {
  const Maker call = maker(record, Target::Part::output, 0);
  for (std::size_t k = 0; k < call.arguments.size(); ++k) {
    if (call.arguments[k] == nullptr) continue;
    uses_[call.arguments[k]].push_back({&record, Target::Part::argument, k});
  }
  const auto use = [&](const Tensor* one, Target::Part part) {
    if (one != nullptr) parameter_uses_[one->identity.name].push_back({&record, part, 0});
  };
  use(call.weight, Target::Part::weight);
  use(call.bias, Target::Part::bias);
}

std::span<const Tensor* const> Graph::named(std::string_view name, std::int32_t microbatch) const {
  const auto found = by_name_.find({name, microbatch});
  if (found == by_name_.end() || found->second.size() > kMostAlike) return {};
  return found->second;
}

const Tensor* Graph::parameter(std::string_view name) const {
  for (const Tensor* one : named(name, 0)) {
    if (one->identity.phase == Phase::state) return one;
  }
  const auto found = earlier_.find(name);
  if (found == earlier_.end()) return nullptr;
  const auto& [tensor, step] = found->second;
  const bool left = tensor.identity.phase == Phase::optimizer && step_ && step == *step_ - 1;
  return left ? &tensor : nullptr;
}

/// The latest before its user; the only one, where ranks count for themselves.
const Tensor* Graph::value(std::string_view text, const Tensor& user) const {
  const auto [phase, name] = input_identity(text);
  const Tensor* latest = nullptr;
  const Tensor* last = nullptr;
  std::size_t fitting = 0;
  for (const Tensor* one : named(name, user.identity.microbatch)) {
    const Phase own = one->identity.phase;
    const bool flows = own == Phase::forward || own == Phase::loss;
    if (phase == Phase::none ? !flows : own != phase) continue;
    if (one == &user || !one->trace) continue;
    ++fitting;
    last = one;
    const bool before = one->trace->seq < user.trace->seq;
    if (before && (latest == nullptr || one->trace->seq > latest->trace->seq)) latest = one;
  }
  return latest != nullptr ? latest : fitting == 1 ? last : nullptr;
}

const Tensor* Graph::only(std::string_view name, Phase phase, std::int32_t microbatch) const {
  const Tensor* found = nullptr;
  for (const Tensor* one : named(name, microbatch)) {
    if (one->identity.phase != phase) continue;
    if (found != nullptr) return nullptr;
    found = one;
  }
  return found;
}

const Tensor* Graph::value_made(std::string_view name, std::int32_t microbatch) const {
  const Tensor* const made = only(name, Phase::forward, microbatch);
  return made != nullptr ? made : only(name, Phase::loss, microbatch);
}

const Tensor* Graph::beside(const std::string& name, const Tensor& record) const {
  const Identity& id = record.identity;
  for (const Tensor* one : named(name, id.microbatch)) {
    if (one->identity.phase == id.phase && one->identity.call == id.call) return one;
  }
  return nullptr;
}

void Graph::take_stated(const Tensor& record, Maker& maker) const {
  const std::string own_input = fmt::format("{}/input.", module_of(record.identity));
  std::size_t next = 0;
  for (const std::string& text : record.trace->inputs) {
    const std::string_view name = input_identity(text).second;
    if (is_parameter(name)) {
      if (slot_text(name) == "weight") maker.weight = parameter(name);
      if (slot_text(name) == "bias") maker.bias = parameter(name);
      continue;
    }
    if (name.starts_with(own_input)) continue;  // it stands at its place already
    while (next < maker.arguments.size() && maker.arguments[next] != nullptr) ++next;
    if (next >= kMostArguments) return;
    if (next >= maker.arguments.size()) maker.arguments.resize(next + 1);
    maker.arguments[next++] = value(text, record);
  }
}

Maker Graph::maker(const Tensor& record, Target::Part part, std::size_t slot) const {
  Maker maker;
  maker.record = &record;
  maker.part = part;
  maker.slot = slot;
  const std::string_view module = module_of(record.identity);
  for (std::size_t k = 0; k < kMostArguments; ++k) {
    const Tensor* own = beside(fmt::format("{}/input.{}", module, k), record);
    if (own == nullptr) continue;
    maker.arguments.resize(k + 1);
    maker.arguments[k] = own;
  }
  take_stated(record, maker);
  if (maker.weight == nullptr) maker.weight = parameter(fmt::format("{}/param.weight", module));
  if (maker.bias == nullptr) maker.bias = parameter(fmt::format("{}/param.bias", module));
  return maker;
}

void Graph::take_gradients(Maker& maker) const {
  const Identity& id = maker.record->identity;
  for (std::size_t s = 0; s < kMostOutputs; ++s) {
    const std::string name = fmt::format("{}/grad_output.{}", module_of(id), s);
    const Tensor* one = only(name, Phase::backward, id.microbatch);
    if (one == nullptr) continue;
    maker.gradients.resize(s + 1);
    maker.gradients[s] = one;
  }
}

std::vector<Maker> Graph::consumers_of(const Tensor& gradient) const {
  const Identity& id = gradient.identity;
  const std::string output = fmt::format("{}/output.{}", module_of(id), slot_text(id.name));
  const Tensor* const made = value_made(output, id.microbatch);
  const auto uses = uses_.find(made);
  if (uses == uses_.end() || uses->second.size() > kMostAddends) return {};
  std::vector<Maker> makers;
  for (const Use& use : uses->second) {
    makers.push_back(maker(*use.record, use.part, use.slot));
    take_gradients(makers.back());
  }
  return makers;
}

std::vector<Maker> Graph::users_of(std::string_view parameter, std::int32_t microbatch) const {
  const auto uses = parameter_uses_.find(parameter);
  if (uses == parameter_uses_.end() || uses->second.size() > kMostAddends) return {};
  std::vector<Maker> makers;
  for (const Use& use : uses->second) {
    if (microbatch != 0 && use.record->identity.microbatch != microbatch) continue;
    makers.push_back(maker(*use.record, use.part, use.slot));
    take_gradients(makers.back());
  }
  return makers;
}

const Tensor* Graph::same_rank(std::string_view name, const Tensor& record) const {
  const auto all = named(name, record.identity.microbatch);
  for (const Tensor* one : all) {
    const bool same =
        first_rank(*one) == first_rank(record) && one->identity.call == record.identity.call;
    if (all.size() == 1 || same) return one;
  }
  return nullptr;
}

Maker Graph::stated_maker(const Tensor& record) const {
  const OpCall& call = *record.trace->call;
  const auto one = [&](const std::string& name) { return same_rank(name, record); };
  Maker maker{&record, call.part, call.slot, {}, one(call.weight), one(call.bias), {}};
  for (const std::string& name : call.arguments) maker.arguments.push_back(one(name));
  for (const std::string& name : call.gradients) maker.gradients.push_back(one(name));
  return maker;
}

std::vector<Maker> Graph::makers_of(const Tensor& record) const {
  if (!record.trace) return {};
  if (record.trace->call) return {stated_maker(record)};
  const auto slot = slot_number(record.identity.name);
  if (is_call(record)) {
    if (record.kind == Kind::output && !slot) return {};
    return {maker(record, Target::Part::output, record.kind == Kind::loss ? 0 : *slot)};
  }
  const Identity& id = record.identity;
  const bool backward = id.phase == Phase::backward;
  if (backward && record.kind == Kind::grad_output) return consumers_of(record);
  if (backward && record.kind == Kind::grad_input && slot) {
    const Tensor* made = nullptr;
    for (const std::string_view first : {"output.0", "loss.0", "loss.1"}) {
      if (made != nullptr) break;
      made = value_made(fmt::format("{}/{}", module_of(id), first), id.microbatch);
    }
    if (made == nullptr || !is_call(*made)) return {};
    std::vector<Maker> makers = {maker(*made, Target::Part::argument, *slot)};
    take_gradients(makers.back());
    return makers;
  }
  const std::string name = parameter_of(record);
  if (backward && record.kind == Kind::grad) return users_of(name, id.microbatch);
  if (id.phase == Phase::sync && record.kind == Kind::main_grad) {
    if (!gradients_.contains(name)) return users_of(name, 0);  // else it is the sum of that one
  }
  return {};
}

}  // namespace ttcheck::recompute
