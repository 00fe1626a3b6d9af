// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace ttcheck {

void Digest::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Digest::Digest() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Digest::value() const { return XXH3_64bits_digest(state_.get()); }

std::uint64_t digest_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  return fmt::format("{} characters, xxh3 {:016x}", text.size(), digest_of(text));
}

}  // namespace ttcheck
