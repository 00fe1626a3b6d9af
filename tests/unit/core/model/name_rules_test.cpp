// SPDX-License-Identifier: Apache-2.0
#include "core/model/name_rules.hpp"

#include <doctest/doctest.h>

#include <set>

namespace ttcheck {
namespace {

TEST_CASE("name rules: a result's rule finds the row that makes it") {
  const auto row = [](std::string_view rule) {
    const NameRule* found = name_rule(rule);
    return found == nullptr ? std::string_view() : found->name;
  };
  CHECK(row("same") == kSameName);
  CHECK(row("hf for megatron names") == kOtherNames);
  CHECK(row("hf for megatron names, master-for-param") == kOtherNames);
  CHECK(row("hf spellings") == kSpellings);
  CHECK(row("map a for b names") == kUserMap);
  CHECK(row("dequant(block)") == kDequantised);
  CHECK(row("wrapper prefix, dequant(row)") == kWrapperPrefix);
  CHECK(row("prefix net. of the candidate") == kOnePrefix);
  CHECK(row("prefix a, b names. of the reference") == kOnePrefix);
  CHECK(row("equal bytes, concat(0)") == kEqualBytes);
  CHECK(row("master") == "");
  CHECK(row("") == "");
}

TEST_CASE("name rules: each name stands once, and its row says something") {
  std::set<std::string_view> names;
  for (const NameRule& rule : name_rules()) {
    CHECK(names.insert(rule.name).second);
    CHECK_FALSE(rule.says.empty());
    CHECK(name_rule(rule.name) != nullptr);
  }
}

}  // namespace
}  // namespace ttcheck
