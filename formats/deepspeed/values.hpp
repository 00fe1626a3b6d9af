// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the dicts of DeepSpeed's files hold, as far as several of its readers need it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/objects/known.hpp"
#include "formats/torch/budget.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// The value of the last pair with that text key, of a dict or an object that is one.
Value item_of(Value dict, std::string_view key);

/// What a model_states file says of the parameters of its ranks.
struct DeepspeedParameters {
  std::vector<std::vector<Candidate>> groups;  ///< param_shapes: the optimizer's, in its order
  std::vector<Candidate> frozen;               ///< frozen_param_shapes
  std::set<std::string> buffers;
  std::vector<std::pair<std::string, std::string>> shared;  ///< alias, name it is stored under

  /// The shapes of `groups` and `frozen`, by name.
  std::map<std::string, Shape> shapes() const;
};

/// Throws Error for a shape that is none.
DeepspeedParameters parameters_of(Value model_states, WalkBudget& budget);

/// `key` as counts, one for each of `groups`: it may be one number for all. Empty: not there.
std::vector<std::int64_t> counts_of(Value dict, std::string_view key, std::size_t groups);

/// A tensor that is one row of elements; `offset` of its piece is that of the first. Throws Error
/// for any other.
TorchTensor row_of_elements(const TorchFile& file, Value value);

/// The number that a tensor of one element, or a number, holds; none for anything else. Throws
/// Error when its bytes cannot be read.
std::optional<double> number_of(const TorchFile& file, Value value);

}  // namespace ttcheck::formats
