// SPDX-License-Identifier: Apache-2.0
#include "core/base/index_table.hpp"

#include <sys/random.h>

namespace ttcheck {

std::uint64_t hash_key() {
  static const std::uint64_t key = [] {
    std::uint64_t random = 0x9e3779b97f4a7c15;  // where there is no randomness yet
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = 0x9e3779b97f4a7c15;
    return random | 1;
  }();
  return key;
}

}  // namespace ttcheck
