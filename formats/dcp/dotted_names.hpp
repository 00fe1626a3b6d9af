// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of dotted parts (`model.layers.0.weight`), of which a longer one may begin with several.

#include <cstddef>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

class DottedNames {
 public:
  /// REQUIRES that what the views are of outlives this.
  explicit DottedNames(std::vector<std::string_view> names = {});

  /// The names that `key` begins with, up to a dot or its end, by their lengths, the shortest
  /// first; the empty one always is, where it is there. Takes time that grows with the length of
  /// the key, however many parts it has, and with the logarithm of the names.
  std::vector<std::size_t> lengths_in(std::string_view key) const;

 private:
  std::vector<std::string_view> names_;  ///< sorted
};

}  // namespace ttcheck::formats
