// SPDX-License-Identifier: Apache-2.0
#pragma once
// A finding as reports get it.

#include <string>
#include <utility>

#include "core/model/finding.hpp"

namespace ttcheck::tests {

inline Finding finding_of(Code code, Severity severity, std::string tensor, std::string message) {
  Finding finding;
  finding.code = code;
  finding.severity = severity;
  finding.tensor = std::move(tensor);
  finding.message = std::move(message);
  return finding;
}

}  // namespace ttcheck::tests
