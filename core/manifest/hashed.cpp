// SPDX-License-Identifier: Apache-2.0
#include "core/manifest/hashed.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/hash.hpp"
#include "core/compare/pair.hpp"
#include "core/diff/compare_all.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::manifest {
namespace {

ManifestEntry entry_of(const Tensor& tensor) {
  if (interrupted() != 0) throw Error("interrupted", {});
  if (!tensor.stored) throw Error("its bytes were not stored", {});
  if (tensor.undeclared) throw Error("nothing says how ranks hold it", {});
  compare::Hash hash = compare::hash_of(tensor);
  return {std::string(name(tensor.dtype)), tensor.shape, std::move(hash.text), hash.constant};
}

void check_copies(std::span<const Tensor* const> tensors, std::span<const Hashed> hashed,
                  std::optional<std::int64_t> step, const Mesh& mesh, const diff::DiffOptions& how,
                  Verdict& verdict) {
  std::vector<compare::Pair> pairs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool copied = !tensors[i]->replicas.empty() || !tensors[i]->term_replicas.empty();
    if (copied && !hashed[i].error) pairs.push_back({tensors[i], tensors[i]});
  }
  const std::vector<compare::Compared> compared = diff::compare_all(pairs, how);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Tensor& tensor = *pairs[i].reference;
    if (compared[i].error) verdict::report_unread(tensor, *compared[i].error, step, verdict);
    if (compared[i].candidate_differs.empty()) continue;
    verdict.findings.push_back(
        verdict::replica_finding(tensor, step, compared[i].candidate_differs, mesh, "run"));
  }
}

}  // namespace

std::vector<Hashed> hash_all(std::span<const Tensor* const> tensors) {
  std::vector<Hashed> hashed(tensors.size());
  parallel_for(hashed.size(), [&](std::size_t i) {
    try {
      hashed[i].entry = entry_of(*tensors[i]);
    } catch (const Error& error) {
      hashed[i].error = error;
    }
  });
  return hashed;
}

void report(std::span<const Tensor* const> tensors, std::span<const Hashed> hashed,
            std::optional<std::int64_t> step, const Mesh& mesh, const diff::DiffOptions& how,
            Verdict& verdict) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (hashed[i].error) verdict::report_unread(*tensors[i], *hashed[i].error, step, verdict);
  }
  check_copies(tensors, hashed, step, mesh, how, verdict);
}

}  // namespace ttcheck::manifest
