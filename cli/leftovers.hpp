#pragma once
// Tensors that were not compared: said one by one, so that the counts add up.

#include <optional>
#include <span>

#include "core/align/align.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

struct Aligned {
  std::span<const Tensor> reference, candidate;
  const align::Alignment& alignment;
  std::optional<std::int64_t> step;
  bool trace = false;  ///< both are traces: what one side lacks is a warning
};

/// TT305, TT306 and TT304 for what did not meet; exclusions to the coverage. A tensor whose
/// counterpart is known to be unreadable counts as unreadable, not as missing.
void report_leftovers(const Aligned& aligned, Verdict& verdict);

/// A pair of which at least one side has no bytes: by stored hashes where both have them, else it
/// is said that it could not be checked.
void judge_unstored(const Tensor& reference, const Tensor& candidate,
                    std::optional<std::int64_t> step, Verdict& verdict);

/// A pair whose bytes could not be read.
void report_unread(const Tensor& reference, const Error& error, std::optional<std::int64_t> step,
                   Verdict& verdict);

}  // namespace ttcheck::cli
