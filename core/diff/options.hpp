// SPDX-License-Identifier: Apache-2.0
#pragma once
// How two runs are to be compared, and what only the program around it knows.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/align/align.hpp"
#include "core/base/name_filter.hpp"
#include "core/limits/limits.hpp"
#include "core/model/layout.hpp"
#include "core/model/manifest.hpp"
#include "core/model/run.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"
#include "core/verdict/known_file.hpp"

namespace ttcheck::compare {
struct Pair;
}

namespace ttcheck::diff {

/// Told of bytes done and bytes in all, from several threads.
using OnBytes = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// All may be empty.
struct Hooks {
  std::function<OnBytes()> pass;  ///< a pass over bytes begins; what it gives is told, and dropped
  /// What is done from now on: meet, judge, excuse, locate or conclude.
  std::function<void(std::string_view part)> begins;
  /// The command to go on with from a result of the comparison of these two.
  std::function<std::vector<std::string>(const TensorResult&, const Run& reference,
                                         const Run& candidate)>
      next;
  /// What lies where inside the first pair that diverged; empty: nobody asks. Throws Error.
  std::function<Profile(const compare::Pair&, const Metrics&, const Numbers&)> inside;
};

struct DiffOptions {
  align::AlignOptions align;       ///< --map, files read
  NameGlobs names;                 ///< --include --exclude
  limits::LimitOptions limits;     ///< --rtol --atol --limits, file read
  std::optional<StepRange> steps;  ///< --step
  /// The limits of the first step, in place of `limits`; nothing: those of all steps.
  std::optional<limits::LimitOptions> first_limits;
  bool exact_sums = false;
  bool keep_equal = false;    ///< a row of equal pairs, too
  bool list_renames = false;  ///< names that met by a rule
  bool every_detail = false;  ///< also of pairs that are noise
  bool recompute = false;  ///< ops, to tell where what diverged came about and what is wrong within
                           ///< its limit; chance may ask for it by itself
  bool by_hash = false;    ///< a stored hash that is the same stands for the bytes
  bool until_bad = false;  ///< that a step has something beyond its limit is all that is wanted
  bool look_at_others = true;         ///< what explains a difference may be another tensor
  bool seek_non_finite = false;       ///< NaN and Inf of the candidate, also outside of pairs
  bool seek_sentinels = true;         ///< a value that hides all others from their limit
  bool ends = false;                  ///< nothing but a report comes after the last step
  std::shared_ptr<const Run> base{};  ///< --base: an ancestor of both; null: none was named
  /// The manifests of the reference and the candidate: tensors that have the same hash there are
  /// equal.
  std::array<const Manifest*, 2> manifests{};
  std::shared_ptr<const verdict::KnownFile> known{};  ///< --known; null: none was named
  Hooks hooks;
};

}  // namespace ttcheck::diff
