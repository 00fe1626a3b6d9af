#pragma once
// What a call that should fail says.

#include <string>

#include "core/base/error.hpp"

namespace ttcheck::tests {

/// Place and message of the Error that `call` throws; empty when it throws none.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ttcheck::tests
