// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/fact_adder.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "formats/bytes/findings.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kReadFacts = 100'000;

}  // namespace

bool FactAdder::add(const Leaf& leaf) {
  if (!has_room(leaf.value)) return false;
  state_.facts.push_back(fact_of(leaf));
  return true;
}

bool FactAdder::add_tensor(const Leaf& leaf) {
  if (!has_room(leaf.value)) return false;
  try {
    state_.facts.push_back(fact_of_tensor(file_, leaf, hashes_));
  } catch (const Error& error) {
    state_.findings.push_back(unreadable(error, leaf.path));
    ++state_.unreadable;
  }
  return true;
}

bool FactAdder::has_room(Value value) {
  if (state_.facts.size() < kReadFacts) return true;
  if (!full_) {
    state_.findings.push_back(beyond(
        value.where(), fmt::format("limit reached: more than {} values beside the tensors; the "
                                   "rest is not read",
                                   kReadFacts)));
  }
  full_ = true;
  return false;
}

}  // namespace ttcheck::formats
