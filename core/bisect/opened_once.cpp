#include "core/bisect/opened_once.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace ttcheck::bisect {
namespace {

constexpr std::size_t kMostOpen = 3;  ///< the one that is looked at, the one before it, the best

using Open = std::deque<std::pair<std::size_t, State>>;

}  // namespace

Run opened_once(const Run& run) {
  Run once = run;
  once.open = [&run, held = std::make_shared<Open>()](std::size_t index) {
    const auto known = std::ranges::find(*held, index, &Open::value_type::first);
    if (known != held->end()) return known->second;
    State state = run.open(index);
    if (held->size() == kMostOpen) held->pop_front();
    held->emplace_back(index, state);
    return state;
  };
  return once;
}

}  // namespace ttcheck::bisect
