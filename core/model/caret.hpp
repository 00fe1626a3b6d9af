// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a bad line of a text is shown: what is wrong, the line, and a caret under the place.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"

namespace ttcheck {

/// `WHAT, column 5`, showing the line and a caret under byte `at` of it (0 is the first column).
/// Long lines are shown around the place.
Error caret_error(std::string_view what, std::string_view line, std::size_t at);

/// An Error about one place of a line; whoever knows the text around it can say it anew.
class LineError : public Error {
 public:
  LineError(std::string what, std::string_view line, std::size_t at)
      : Error(caret_error(what, line, at)), said_(std::move(what)), at_(at) {}

  const std::string& said() const { return said_; }  ///< without line and caret
  std::size_t at() const { return at_; }             ///< byte of the line

 private:
  std::string said_;
  std::size_t at_;
};

}  // namespace ttcheck
