// SPDX-License-Identifier: Apache-2.0
#include "core/base/until_exit.hpp"

#include <utility>
#include <vector>

namespace ttcheck {

void keep_until_exit(std::shared_ptr<void> object) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;  // never destroyed
  kept->push_back(std::move(object));
}

}  // namespace ttcheck
