// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who a tensor is, across ranks and runs.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/kind.hpp"

namespace ttcheck {

/// Phases of a training step, in causal order.
enum class Phase : std::uint8_t {
  none,
  state,
  forward,
  loss,
  backward,
  sync,
  clip,
  optimizer,
  comm
};

inline constexpr std::array<std::string_view, 9> kPhases = {
    "", "state", "forward", "loss", "backward", "sync", "clip", "optimizer", "comm"};

constexpr std::string_view name(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::optional<Phase> phase_named(std::string_view word);

/// A checkpoint tensor is its canonical name alone (`phase` none). A trace tensor is
/// (microbatch, phase, module, kind, slot, call); the step is the State's. `name` then reads
/// `<module>/<kind>.<slot>`, as `first.tensor` prints it.
struct Identity {
  std::string name;
  Phase phase = Phase::none;
  std::int32_t microbatch = 0;
  std::int32_t call = 0;

  auto operator<=>(const Identity&) const = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const;
};

/// `layers.0.mlp` of `layers.0.mlp/output.0` and of `layers.0.mlp outputs` (as transformers' call
/// trees name it); the whole name of a checkpoint tensor.
std::string_view module_of(const Identity& identity);

/// Phase and name of an input as records state it: `backward:lm_head/grad_output.0`; without a
/// phase, none. The name is a part of `text`.
std::pair<Phase, std::string_view> input_identity(std::string_view text);

}  // namespace ttcheck
