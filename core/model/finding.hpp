// SPDX-License-Identifier: Apache-2.0
#pragma once
// "We did look, and the input is bad." Codes are stable; their texts are in core/model/codes.

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/box.hpp"
#include "core/model/codes.hpp"
#include "core/model/identity.hpp"
#include "core/model/mesh.hpp"

namespace ttcheck {

enum class Severity : std::uint8_t { note, warning, error };

using Parameter = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// An explanation, with what is left of the error once it is corrected for.
struct Hypothesis {
  std::string name;  ///< scale, offset, partial-sum, bit-flip, ...
  std::vector<std::pair<std::string, Parameter>> parameters;
  double residual = 0;
  double weight = 0;
};

/// `axes`: per mesh axis the coordinates of `ranks`.
using AxisCoordinates = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

struct Finding {
  Code code = Code::unreadable;
  Severity severity = Severity::error;
  std::optional<std::int64_t> step;
  Phase phase = Phase::none;
  std::string op;                         ///< module path; empty: none
  std::string tensor;                     ///< the reference's name; empty: none
  std::int32_t microbatch = 0, call = 0;  ///< of the record, beside its name
  std::vector<std::int32_t> ranks;
  AxisCoordinates axes;
  std::optional<Where> where;  ///< the candidate's (or the only run's) place
  std::optional<Where> reference_where;
  std::string candidate_tensor;  ///< empty: none
  std::optional<Extents> index;
  std::optional<double> error;
  std::optional<double> limit;
  std::string limit_source;
  std::optional<double> ratio;
  std::string message;  ///< one sentence
  std::size_t why = 0;  ///< where in it that begins which is no measure: what explains it
  std::size_t aside = std::string::npos;  ///< and where what may be of use beside
  std::string paste;                   ///< lines of a layout file that would mend it; empty: none
  std::vector<Hypothesis> hypotheses;  ///< strongest first
  bool incomplete = false;             ///< it also leaves something unchecked (exit code 2)
  std::vector<std::string> next;       ///< words of the next command, ready to paste
};

/// Adds `some` behind `all`.
inline void append(std::vector<Finding>& all, std::vector<Finding> some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

}  // namespace ttcheck
