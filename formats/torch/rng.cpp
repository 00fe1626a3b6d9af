// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/rng.hpp"

#include <algorithm>
#include <string_view>

#include "formats/bytes/findings.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kLongest = 65536;  // of a generator's state; the CPU's has 5056 bytes

bool is_rng(const Record& record) {
  if (record.dtype != DType::u8 || record.shape.size() != 1 || record.shape[0] > kLongest ||
      record.piece.rank != kNoRank) {
    return false;
  }
  std::string_view rest = record.identity.name;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (part.starts_with("rng") || part.ends_with("rng_state") || part.starts_with("random_state"))
      return true;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return false;
}

}  // namespace

void take_rng(State& state) {
  std::erase_if(state.records, [&](const Record& record) {
    if (!is_rng(record)) return false;
    try {
      state.facts.push_back({record.identity.name,
                             value_of_array(record.piece, record.dtype, record.shape),
                             use_of(record.identity.name), record.piece.where()});
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error, record.identity.name));
      ++state.unreadable;
    }
    return true;
  });
}

}  // namespace ttcheck::formats
