// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "core/compare/kernel.hpp"
#include "tests/support/short_kernels.hpp"

namespace ttcheck::compare {
namespace {

TEST_CASE("short integers as stored: every instruction set gives what is told one by one") {
  for (const Kernels* isa : usable_kernels()) {
    CAPTURE(std::string(isa->name));
    tests::check_short(*isa);
  }
}

}  // namespace
}  // namespace ttcheck::compare
