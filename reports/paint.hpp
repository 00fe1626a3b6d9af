// SPDX-License-Identifier: Apache-2.0
#pragma once
// Colour, where it helps: the verdict's word and severities. Never colour alone: the word stays.

#include <string>
#include <string_view>

#include "core/model/finding.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::reports {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  std::string bold(std::string_view text) const { return with("1", text); }
  std::string dim(std::string_view text) const { return with("2", text); }
  std::string of(Outcome outcome, std::string_view text) const;
  std::string of(Severity severity, std::string_view text) const;

 private:
  std::string with(std::string_view code, std::string_view text) const;

  bool on_;
};

}  // namespace ttcheck::reports
