#pragma once
// Which limit a pair is held to, and the words that say where it came from.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/limit.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::limits {

/// `[GLOB:]V` of --rtol / --atol; an empty glob means every tensor. Later ones win.
struct ToleranceRule {
  std::string glob;
  double value = 0;
};

struct LimitOptions {
  enum class Mode : std::uint8_t { automatic, exact, model } mode = Mode::automatic;
  std::vector<ToleranceRule> rtol, atol;
};

/// What the limit model knows of the two runs beside the pair itself.
struct Context {
  bool trace = false;
  bool copies = false;              ///< at least half of the non-constant pairs are equal
  DType coarsest = DType::f32;      ///< of the recorded floating tensors of both sides
  std::int64_t depth = 1;           ///< number of layers
};

/// The elementwise tolerance that the user gave for this name, if any.
std::optional<Limit> tolerance_for(const LimitOptions& options, const std::string& name);

Limit limit_for(const Tensor& reference, const Tensor& candidate, const Context& context,
                const LimitOptions& options);

}  // namespace ttcheck::limits
