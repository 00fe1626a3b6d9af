// SPDX-License-Identifier: Apache-2.0
#include "core/noise/parameter_place.hpp"

#include <fmt/format.h>

#include "core/base/digits.hpp"

namespace ttcheck::noise {
namespace {

std::string_view without_call(std::string_view module) {
  const std::size_t number = module.rfind('.');
  if (number == module.npos || !is_number(module.substr(number + 1))) return module;
  const std::string_view called = module.substr(0, number);
  for (const std::string_view word : {".forward", ".parameters_grad"}) {
    if (called.ends_with(word)) return called.substr(0, called.size() - word.size());
  }
  return module;
}

}  // namespace

std::string parameter_place(std::string_view record) {
  const std::size_t slash = record.rfind('/');
  if (slash == record.npos) return std::string(record);
  std::string_view slot = record.substr(slash + 1);
  if (const std::size_t dot = slot.find('.'); dot != slot.npos) slot.remove_prefix(dot + 1);
  return fmt::format("{}/{}", without_call(record.substr(0, slash)), slot);
}

std::string parameter_place(const Tensor& record) {
  const std::string_view owner = record.trace ? std::string_view(record.trace->owner) : "";
  if (owner.empty()) return parameter_place(record.identity.name);
  const std::size_t dot = owner.rfind('.');
  if (dot == owner.npos) return std::string(owner);
  return fmt::format("{}/{}", owner.substr(0, dot), owner.substr(dot + 1));
}

std::optional<std::string> weight_place(std::string_view bias) {
  constexpr std::string_view kBias = "/bias";
  if (!bias.ends_with(kBias)) return std::nullopt;
  return fmt::format("{}/weight", bias.substr(0, bias.size() - kBias.size()));
}

}  // namespace ttcheck::noise
