// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors -> what a manifest says of them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/diff/options.hpp"
#include "core/model/manifest.hpp"
#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::manifest {

/// One tensor, hashed, or why it was not.
struct Hashed {
  ManifestEntry entry;
  std::optional<Error> error;
};

/// Hashes tensors of a step, each read once, in their order. Those whose bytes were not stored or
/// that nothing says how to put together have an error; so has what a signal left.
std::vector<Hashed> hash_all(std::span<const Tensor* const> tensors);

/// Says which could not be hashed, and where copies that several ranks hold differ (TT101): a hash
/// is of the lowest rank's. REQUIRES one of `hashed` for each tensor.
void report(std::span<const Tensor* const> tensors, std::span<const Hashed> hashed,
            std::optional<std::int64_t> step, const Mesh& mesh, const diff::DiffOptions& how,
            Verdict& verdict);

}  // namespace ttcheck::manifest
