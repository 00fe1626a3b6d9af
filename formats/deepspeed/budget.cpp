// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/budget.hpp"

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

std::uint64_t bytes_of_pickles(const DeepspeedTag& tag) {
  std::uint64_t bytes = 0;
  for (const DeepspeedPart& part : tag.parts) {
    if (part.torch == nullptr) continue;
    const Pickle& pickle = part.torch->pickle();
    bytes = checked_add(bytes, pickle.end() - pickle.begin());
  }
  return bytes;
}

}  // namespace

DeepspeedBudget::DeepspeedBudget(const DeepspeedTag& tag, std::string_view what)
    : given_(tag.given), what_(what), budget_(bytes_of_pickles(tag)) {}

bool DeepspeedBudget::take(std::string_view name, State& state) {
  const bool said = budget_.spent();
  if (budget_.keep(sizeof(Record) + name.size())) return true;
  if (said) return false;
  ++state.unreadable;
  state.findings.push_back(beyond(
      {given_, {}, {}},
      fmt::format("limit reached: {} stand for more tensors than the files account for", what_)));
  return false;
}

}  // namespace ttcheck::formats
