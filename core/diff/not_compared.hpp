// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs that are not damaged and cannot be compared all the same, for what the files do not state:
// counted by reason.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

class Uncompared {
 public:
  /// `reason`: the end of "cannot be compared: ", the same words for the same reason.
  void add(const Tensor& reference, std::string_view reason);

  /// One warning for each reason, which names the first tensor and leaves the comparison
  /// incomplete; all count as unreadable.
  void report(std::optional<std::int64_t> step, Verdict& verdict) const;

 private:
  struct Group {
    std::string reason;
    Identity first;
    std::int64_t count = 0;
  };
  std::vector<Group> groups_;
};

}  // namespace ttcheck::diff
