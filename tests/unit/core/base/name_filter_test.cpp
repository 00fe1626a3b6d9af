// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_filter.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("name filter: the first exclude that fits leaves a name out, else a missing include") {
  const NameFilter filter({{"layers.**"}, {"**.bias", "layers.0.*"}});
  REQUIRE(filter.rules().size() == 3);
  CHECK(filter.rules()[0] == "--exclude **.bias");
  CHECK(filter.rules()[2] == "--include");
  CHECK(filter.admits("layers.1.weight"));
  CHECK(filter.left_out_by("layers.0.bias") == 0);
  CHECK(filter.left_out_by("layers.0.weight") == 1);
  CHECK(filter.left_out_by("head.weight") == 2);
  CHECK(filter.left_out_by("head.bias") == 0);
}

TEST_CASE("name filter: without globs every name stays") {
  CHECK(NameFilter({{}, {}}).admits("a"));
  CHECK_FALSE(NameFilter({{}, {"a"}}).admits("a"));
  CHECK(NameFilter({{}, {"a"}}).admits("b"));
}

TEST_CASE("name filter: a pair goes by the names of both sides") {
  const NameFilter filter({{"model.**"}, {"**.bias"}});
  CHECK_FALSE(filter.left_out_by("model.a", "decoder.a"));
  CHECK_FALSE(filter.left_out_by("decoder.a", "model.a"));
  CHECK(filter.left_out_by("decoder.a", "decoder.b") == 1);
  CHECK(filter.left_out_by("model.a", "model.bias") == 0);
  CHECK(filter.left_out_by("model.bias", "decoder.a") == 0);
}

}  // namespace
}  // namespace ttcheck
