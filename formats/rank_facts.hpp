#pragma once
// Facts of many ranks as those of one state.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/run.hpp"

namespace ttcheck::formats {

class RankFacts {
 public:
  /// Adds facts of a rank to `state`: one that ranks share is kept once; those that differ from the
  /// first rank's get `.rank.<n>` at the end of their names.
  void take(const std::vector<Fact>& facts, std::int32_t rank, State& state);

 private:
  std::unordered_map<std::string, std::size_t> places_;  ///< in the state's list, by name
};

}  // namespace ttcheck::formats
