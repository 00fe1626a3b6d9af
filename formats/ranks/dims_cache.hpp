// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dims lines of many records, of which few differ.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/record.hpp"

namespace ttcheck::formats {

/// Parses each spelling of a dims line once.
class DimsCache {
 public:
  /// Throws Error as parse_dims does.
  std::shared_ptr<const Placement> parse(std::string_view line);

 private:
  std::map<std::string, std::shared_ptr<const Placement>, std::less<>> parsed_;
};

}  // namespace ttcheck::formats
