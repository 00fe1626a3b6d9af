// SPDX-License-Identifier: Apache-2.0
#include "core/limits/siblings.hpp"

#include "core/base/digits.hpp"

namespace ttcheck::limits {

std::string siblings_of(std::string_view name) {
  std::string pattern;
  for (std::size_t begin = 0, end = 0; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (begin > 0) pattern += '.';
    pattern += is_number(part) ? std::string_view("#") : part;
  }
  return pattern;
}

bool is_of_bias(std::string_view name) { return name.substr(0, name.find('@')).ends_with("bias"); }

}  // namespace ttcheck::limits
