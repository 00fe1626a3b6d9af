// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came of recomputing one record.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/identity.hpp"

namespace ttcheck::recompute {

struct Recomputed {
  enum class State : std::uint8_t {
    unknown,  ///< it cannot be told
    right,    ///< its output is what its inputs give: an error came in with them
    wrong,    ///< it is not: the op itself is wrong
  };
  State state = State::unknown;
  std::string op;                   ///< in words: "swiglu", "the gradient through swiglu in m"
  double error = 0, limit = 0;      ///< of the test that decided
  bool clear = false;               ///< of `wrong`: by far more than the reference's is off
  std::int64_t index = -1;          ///< the worst element
  std::vector<std::int32_t> ranks;  ///< that hold a wrong part; empty without ranks
  std::optional<int> turned_bit;    ///< all that is wrong: this bit of that element
  bool sampled = false;             ///< some of its rows only: the op is large
  std::string remark;               ///< attributes that the sides state differently; may be empty
  std::vector<Identity> inputs;     ///< of the candidate, as far as they are records of this step
  std::string reason;               ///< of `unknown`, in words: why; empty: none is known
  bool collective = false;          ///< a dumped collective's output against its dumped inputs
  bool norm = false;                ///< a logged norm against the gradients that it is of
  std::vector<std::int32_t> group;  ///< of the collective: ranks that brought something
  std::optional<Identity> repeats;  ///< the output of a wrong collective, which this only passes on
};

}  // namespace ttcheck::recompute
