// SPDX-License-Identifier: Apache-2.0
#pragma once
// What role a tensor has. A kind has a spelling in checkpoints (a suffix of the canonical name) and
// one in traces (the record's `kind`), so both vocabularies meet.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ttcheck {

enum class Kind : std::uint8_t {
  weight,
  master,
  moment1,
  moment2,
  momentum,
  step,
  grad,
  main_grad,
  input,
  output,
  grad_input,
  grad_output,
  loss,
  comm_in,
  comm_out,
  state,
  other,
};

struct KindInfo {
  Kind kind;
  std::string_view name;        ///< in reports
  std::string_view checkpoint;  ///< `@` suffix of the canonical name; "" for a weight or none
  std::string_view trace;       ///< the record's `kind`; "" where traces have none
};

inline constexpr std::array kKinds = {
    KindInfo{Kind::weight, "weight", "", "param"},
    KindInfo{Kind::master, "master", "@master", "master"},
    KindInfo{Kind::moment1, "moment1", "@exp_avg", "moment1"},
    KindInfo{Kind::moment2, "moment2", "@exp_avg_sq", "moment2"},
    KindInfo{Kind::momentum, "momentum", "@momentum_buffer", ""},
    KindInfo{Kind::step, "step", "@step", ""},
    KindInfo{Kind::grad, "grad", "@grad", "grad"},
    KindInfo{Kind::main_grad, "main_grad", "", "main_grad"},
    KindInfo{Kind::input, "input", "", "input"},
    KindInfo{Kind::output, "output", "", "output"},
    KindInfo{Kind::grad_input, "grad_input", "", "grad_input"},
    KindInfo{Kind::grad_output, "grad_output", "", "grad_output"},
    KindInfo{Kind::loss, "loss", "", "loss"},
    KindInfo{Kind::comm_in, "comm_in", "", "comm_in"},
    KindInfo{Kind::comm_out, "comm_out", "", "comm_out"},
    KindInfo{Kind::state, "state", "", "state"},
    KindInfo{Kind::other, "other", "", ""},
};

consteval bool kind_rows_in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(kind_rows_in_order());

constexpr const KindInfo& info(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
constexpr std::string_view name(Kind kind) { return info(kind).name; }

/// What an optimizer moves: a weight, or the master that one is rounded from.
constexpr bool is_parameter(Kind kind) { return kind == Kind::weight || kind == Kind::master; }

/// The kind that a trace record's `kind` names, if there is one.
std::optional<Kind> kind_of_record(std::string_view word);

/// The kind of a canonical checkpoint name: by its `@` suffix, else `weight`; an unknown suffix is
/// `other`.
Kind kind_of_name(std::string_view canonical);

}  // namespace ttcheck
