#pragma once
// Facts that the files of several ranks state: shared ones once, those that differ by rank.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/fact.hpp"

namespace ttcheck::formats {

/// The facts of a state, and where each name is among them.
class RankFacts {
 public:
  explicit RankFacts(std::vector<Fact>& facts) : facts_(facts) {}

  /// Adds one rank's. A fact that ranks share is kept once; those that differ from the first rank's
  /// carry the rank.
  void take(const std::vector<Fact>& facts, std::int32_t rank);

 private:
  std::vector<Fact>& facts_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace ttcheck::formats
