// SPDX-License-Identifier: Apache-2.0
#pragma once
// A limits file: how far two correct runs were measured to be apart, tensor by tensor, as text that
// a person reads and edits (ttcheck-limits.7). `ttcheck calibrate` writes it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"
#include "core/base/name_map.hpp"
#include "core/limits/stored.hpp"
#include "core/model/limit.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::limits {

/// What was measured of one tensor, or of all that a glob names.
struct LimitEntry {
  std::string match;            ///< glob over the tensor's name, or over its op's
  Phase phase = Phase::none;    ///< none: any
  double d = 0;                 ///< largest rel between two correct runs
  double row = 0, outlier = 0;  ///< largest of a worst row, of a worst element; 0: unknown
  std::optional<double>
      eps;  ///< coarsest rounding on the path, where the two runs show none that is coarser
  std::int64_t samples = 0;          ///< pairs of runs and steps behind it; 0: unknown
  std::optional<double> p50, p90;    ///< quantiles of rel over the samples
  std::shared_ptr<const Glob> glob;  ///< `match`, compiled by parse_limits
};

/// The origin of the numbers in a file of limits; for readers, nothing follows from it.
struct LimitOrigin {
  std::string tool, reference;
  std::vector<std::string> runs;           ///< paths
  std::vector<std::string> perturbations;  ///< of each run: what was changed; "": nothing
  std::int64_t comparisons = 0;            ///< pairs of runs
};

/// How far correct states of two runs are apart: the median distances of their tensors
/// (core/limits/relation.cpp).
struct MeasuredStates {
  double weights = 0;
  std::optional<double> moments;  ///< nothing: the runs kept none
  BiasesApart biases{};           ///< those that chance moved, by part
  std::optional<double> least{};  ///< weights of the two that differ the least, by single roundings
                                  ///< of a store: 0; nothing: none differ, or it is not known
};

inline constexpr double kDefaultM = 5;   ///< times what was measured
inline constexpr double kDefaultM0 = 4;  ///< times eps, at least

struct LimitsFile {
  std::string file;  ///< for messages and sources
  double m = kDefaultM, m0 = kDefaultM0;
  LimitOrigin origin;
  std::optional<MeasuredStates> states;
  std::vector<LimitEntry> entries;  ///< of several that match, the last counts

  /// The entry for a tensor; null where there is none. Needs what parse_limits prepared.
  const LimitEntry* entry_for(const Identity& identity) const;

  NameMap<std::vector<std::size_t>> by_name;  ///< entries without wildcards
  std::vector<std::size_t> with_wildcards;
};

/// What two states are held to where a file tells: m times what was measured, and at least what two
/// are held to of which nothing was measured, as a few repeats may agree by luck. Where these vary
/// by more than m among themselves, or differ by less than their store shows, what is within m
/// times that is not sure to be wrong. `limits` must outlive it.
Cuts cuts_of(const LimitsFile* limits);

/// Throws Error whose message shows file, line, column, the line itself and a caret.
LimitsFile parse_limits(std::string_view text, const std::string& file);

/// The text that parse_limits reads back; `match` of an entry is written as it is.
std::string print_limits(const LimitsFile& limits);

/// The limit of a tensor under an entry: max(m d, m0 eps k), k of the tensor's kind;
/// `coarsest`: dtype that either run recorded. A worst row
/// may reach 6 x the limit or m x the row that was measured, whichever is more; an element 16 x. Of
/// a state at rest the floor is that of one element that its store turned, m0 eps / sqrt(elements),
/// and of fp32, m0 2^-23.
Limit measured_limit(const LimitsFile& limits, const LimitEntry& entry, const Tensor& reference,
                     DType coarsest);

}  // namespace ttcheck::limits
