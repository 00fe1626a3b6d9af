// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "core/compare/kernel.hpp"
#include "tests/support/exact_kernels.hpp"

namespace ttcheck::compare {
namespace {

TEST_CASE("integers and doubles: every instruction set gives what is told one by one") {
  for (const Kernels* isa : usable_kernels()) {
    CAPTURE(std::string(isa->name));
    tests::check_exact(*isa);
  }
}

}  // namespace
}  // namespace ttcheck::compare
