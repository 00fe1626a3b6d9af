// SPDX-License-Identifier: Apache-2.0
#pragma once
// XXH3-64 of bytes that come in parts, and of text that is too long to be shown: it tells what is
// the same, not what was made to look so.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace ttcheck {

class Digest {
 public:
  Digest();  ///< throws bad_alloc
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

std::uint64_t digest_of(std::string_view text);

/// `text`, or its length and digest where it has more than `most` bytes.
std::string shortened(std::string text, std::size_t most);

}  // namespace ttcheck
