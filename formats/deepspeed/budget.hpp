// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many records and facts the files of a tag may make. A few numbers of a flat group stand for
// every parameter of it, and values of a pickle may be shared, so that a short file could name any
// number of them.

#include <string>
#include <string_view>

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"
#include "formats/torch/budget.hpp"

namespace ttcheck::formats {

class DeepspeedBudget {
 public:
  /// Grows with the bytes of all pickles of the tag. `what`: stands for the records, in words.
  explicit DeepspeedBudget(const DeepspeedTag& tag,
                           std::string_view what = "the optimizer's values");

  /// Charges a record or a fact of that name. When there is no room, false, and TT501 once.
  bool take(std::string_view name, State& state);

 private:
  std::string given_;
  std::string what_;
  WalkBudget budget_;
};

}  // namespace ttcheck::formats
