// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/opened_once.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

namespace ttcheck::bisect {
namespace {

constexpr std::size_t kStayOpen = 3;  ///< the one that is looked at, the one before it, the best
constexpr std::size_t kMostRecords = 1 << 16;  ///< of all that are open, beyond these: some 64 MiB

/// The steps that are open, the one that was asked for last in front.
class OpenSteps {
 public:
  const State* find(std::size_t index) {
    const auto known = std::ranges::find(open_, index, &Open::first);
    if (known == open_.end()) return nullptr;
    open_.splice(open_.begin(), open_, known);
    return &known->second;
  }

  void add(std::size_t index, State state) {
    records_ += state.records.size();
    open_.emplace_front(index, std::move(state));
    while (open_.size() > kStayOpen && records_ > kMostRecords) {
      records_ -= open_.back().second.records.size();
      open_.pop_back();
    }
  }

 private:
  using Open = std::pair<std::size_t, State>;

  std::list<Open> open_;
  std::size_t records_ = 0;
};

}  // namespace

Run opened_once(const Run& run) {
  Run once = run;
  once.open = [&run, steps = std::make_shared<OpenSteps>()](std::size_t index) {
    if (const State* const known = steps->find(index)) return *known;
    State state = run.open(index);
    steps->add(index, state);
    return state;
  };
  return once;
}

}  // namespace ttcheck::bisect
