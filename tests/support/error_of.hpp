// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Error that a call ends in, as a cell of a table.

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace ttcheck::tests {

/// Its place, where it has one, and its message; empty when the call returns.
template <class Call>
std::string error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ttcheck::tests
