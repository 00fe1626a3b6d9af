// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which limit a pair is held to, and the words that say where it came from.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits/context.hpp"
#include "core/limits/limits_file.hpp"
#include "core/model/limit.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::limits {

/// `[GLOB:]V` of --rtol / --atol; an empty glob means every tensor. Later ones win.
struct ToleranceRule {
  std::string glob;
  double value = 0;
};

struct LimitOptions {
  enum class Mode : std::uint8_t { automatic, exact, model, file } mode = Mode::automatic;
  std::vector<ToleranceRule> rtol, atol;
  std::shared_ptr<const LimitsFile> file;  ///< of mode file
};

/// Whether two states are held to what their relation lets them differ by.
bool tells_states(const LimitOptions& options);

/// The elementwise tolerance that the user gave for this name, if any.
std::optional<Limit> tolerance_for(const LimitOptions& options, const std::string& name);

/// The elementwise limit of a pair: the user's tolerance, else how far its sides were rounded,
/// which `exact` does not admit. Nothing for other pairs.
std::optional<Limit> elementwise_limit(const Tensor& reference, const Tensor& candidate,
                                       const LimitOptions& options);

/// The limit of a pair; with a limits file the measured one, by the name of either side, and the
/// model's where it has none; of stored states `state`, what their relation lets the pair differ
/// by. Integers, bools and step counters are exact whatever the mode.
Limit limit_for(const Tensor& reference, const Tensor& candidate, const LimitContext& context,
                const LimitOptions& options, const Limit* state = nullptr);

}  // namespace ttcheck::limits
