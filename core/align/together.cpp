// SPDX-License-Identifier: Apache-2.0
#include "core/align/together.hpp"

#include <algorithm>

#include "core/base/require.hpp"

namespace ttcheck::align {

Common common_of(std::span<const std::string> names) {
  require(!names.empty(), "a name");
  const std::string& first = names.front();
  std::size_t front = first.size();
  for (const std::string& name : names) {
    std::size_t n = 0;
    while (n < std::min(front, name.size()) && name[n] == first[n]) ++n;
    front = n;
  }
  std::size_t back = first.size() - front;
  for (const std::string& name : names) {
    std::size_t n = 0;
    while (n < std::min(back, name.size() - front) &&
           name[name.size() - 1 - n] == first[first.size() - 1 - n]) {
      ++n;
    }
    back = n;
  }
  const std::size_t dot = front == 0 ? std::string::npos : first.find_last_of("./", front - 1);
  const std::size_t next = first.find_first_of("./", first.size() - back);
  return {dot == std::string::npos ? 0 : dot + 1,
          next == std::string::npos ? 0 : first.size() - next};
}

std::string together(std::span<const std::string> names) {
  constexpr std::size_t kListed = 8;
  const std::string& first = names.front();
  if (names.size() == 1) return first;
  const Common common = common_of(names);
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!list.empty()) list += ',';
    if (names.size() > kListed && i == kListed - 1) {
      list += "...,";
      i = names.size() - 1;
    }
    list += common.differing(names[i]);
  }
  return first.substr(0, common.front) + "{" + list + "}" +
         first.substr(first.size() - common.back);
}

}  // namespace ttcheck::align
