#include "formats/deepspeed_stages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr int kMostTies = 16;  ///< layers that are tried as the tied one

}  // namespace

StagesMatched match_stages(const std::vector<std::vector<Shape>>& shapes,
                           std::vector<Candidate>& parameters, bool& ambiguous) {
  std::size_t ids = 0;
  for (const auto& group : shapes) ids += group.size();
  if (ids <= parameters.size()) return match_groups(shapes, parameters, ambiguous);
  const std::size_t more = ids - parameters.size();
  int tries = 0;
  for (std::size_t i = 0; i < parameters.size() && tries < kMostTies;) {
    const std::string_view name = parameters[i].name;
    const std::string layer(name.substr(0, name.find('.') + 1));
    std::size_t end = i;
    while (end < parameters.size() && parameters[end].name.starts_with(layer)) ++end;
    if (end - i == more) {
      ++tries;
      const auto at = [&](std::size_t k) {
        return parameters.begin() + static_cast<std::ptrdiff_t>(k);
      };
      std::vector<Candidate> tied(at(i), at(end));
      tied.insert(tied.end(), at(i), at(end));
      tied.insert(tied.end(), parameters.begin(), at(i));
      tied.insert(tied.end(), at(end), parameters.end());
      bool several = false;
      if (StagesMatched matched = match_groups(shapes, tied, several); !matched.empty()) {
        ambiguous = several;
        parameters = std::move(tied);
        return matched;
      }
    }
    i = std::max(end, i + 1);
  }
  return {};
}

}  // namespace ttcheck::formats
