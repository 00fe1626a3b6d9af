#include "core/locate/preconditions.hpp"

namespace ttcheck::locate {
namespace {

std::optional<Precondition> parameters(std::span<const TensorResult> results) {
  std::size_t all = 0;
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorResult& one = results[i];
    if (one.identity.phase != Phase::state || one.kind != Kind::weight) continue;
    ++all;
    if (one.outcome != Outcome::diverged) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong * 2 <= all) return std::nullopt;
  return Precondition{"initial parameters differ", Code::diverged, first};
}

std::optional<Precondition> batch(std::span<const TensorResult> results) {
  std::string_view first_module;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorResult& one = results[i];
    const Phase phase = one.identity.phase;
    if (phase != Phase::forward && phase != Phase::loss) continue;
    if (phase == Phase::forward && first_module.empty()) first_module = module_of(one.identity);
    const bool entry = phase == Phase::loss || module_of(one.identity) == first_module;
    if (!entry || one.kind != Kind::input || !is_exact(one.dtype)) continue;
    if (one.outcome == Outcome::diverged) {
      return Precondition{"the batch differs", Code::data_replay, i};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Precondition> failed_precondition(std::span<const TensorResult> results) {
  if (auto failed = parameters(results)) return failed;
  return batch(results);
}

}  // namespace ttcheck::locate
