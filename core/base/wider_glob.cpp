// SPDX-License-Identifier: Apache-2.0
#include "core/base/wider_glob.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck {

std::string wider_glob(std::string_view glob) {
  std::string wider;
  bool changed = false;
  for (std::size_t i = 0; i < glob.size();) {
    const std::size_t end = std::min(glob.find_first_not_of('*', i), glob.size());
    if (end == i) {
      wider += glob[i++];
      if (wider.back() == '\\' && i < glob.size()) wider += glob[i++];
      continue;
    }
    changed = changed || end - i == 1;
    wider += "**";
    i = end;
  }
  return changed ? wider : "";
}

std::string wider_words(std::string_view wider) {
  return fmt::format("; a * stays within one part between dots, ** does not: '{}'", wider);
}

}  // namespace ttcheck
