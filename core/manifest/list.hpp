// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run -> the lines of its manifest.

#include <cstdint>
#include <functional>
#include <optional>

#include "core/diff/options.hpp"
#include "core/model/identity.hpp"
#include "core/model/manifest.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::manifest {

/// Told of a tensor that was hashed.
using OnEntry = std::function<void(std::optional<std::int64_t> step, const Identity& identity,
                                   const ManifestEntry& entry)>;

struct Listed {
  Verdict verdict;  ///< what the run is, and what could not be read; it judges nothing
  ManifestHead head;
};

/// Hashes the run's tensors, of the names and steps that `how` wants: steps ascending, tensors in
/// the order of the files.
Listed list(const Run& run, const diff::DiffOptions& how, const OnEntry& on_entry);

}  // namespace ttcheck::manifest
