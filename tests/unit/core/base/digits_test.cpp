// SPDX-License-Identifier: Apache-2.0
#include "core/base/digits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace ttcheck {
namespace {

TEST_CASE("ten of all bytes are digits") {
  const std::string digits = "0123456789";
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    INFO(byte);
    CHECK(is_digit(c) == (digits.find(c) != std::string::npos));
  }
}

TEST_CASE("a number is digits alone, of at least one") {
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, bool>>{{"", false},
                                                 {"0", true},
                                                 {"007", true},
                                                 {"1234567890123456789012345678901234567890", true},
                                                 {"-1", false},
                                                 {"+1", false},
                                                 {" 1", false},
                                                 {"1 ", false},
                                                 {"1a", false},
                                                 {"a1", false},
                                                 {"1.0", false},
                                                 {"1e3", false},
                                                 {std::string("1\0", 2), false},
                                                 {"\xd9\xa1", false}}) {  // a digit of Arabic
    INFO(text);
    CHECK(is_number(text) == expected);
  }
}

}  // namespace
}  // namespace ttcheck
