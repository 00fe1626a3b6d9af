// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/model/axes.hpp"
#include "core/model/name_rules.hpp"
#include "core/model/zero_words.hpp"
#include "core/verdict/holders.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::verdict {
namespace {

/// What shows that a result within its limit is wrong; empty where the message goes on elsewhere.
std::string by_itself_words(const TensorResult& result) {
  if (result.test == Test::unmoved) return "; it still is what it was before the update";
  if (result.test == Test::lean) {
    return fmt::format(
        "; but most values are off by {:.3g} to one side, and rounding, which has no side, "
        "explains "
        "{:.3g} of it",
        result.error, result.allowed);
  }
  if (result.test == Test::own) {
    return fmt::format(
        "; but all that was recorded before it is equal, and the ops since explain {:.3g}",
        result.allowed);
  }
  return "";
}

std::string divergence_message(const TensorResult& result) {
  const Metrics& m = result.metrics;
  const bool statistics = result.rule == kByStatistics;
  if (statistics && result.test == Test::non_finite) {
    return "a stored statistic is NaN or infinite on one side only";
  }
  if (result.test == Test::non_finite) {
    return fmt::format("NaN or Inf on one side only at {} of {} elements", m.non_finite_disagree,
                       m.count);
  }
  if (const std::string zeros = zero_words(result); !zeros.empty()) return zeros;
  if (result.test == Test::elementwise) {
    return fmt::format("{} of {} elements differ; the worst is {:.3g} x the tolerance",
                       m.unequal_values, m.count, result.error);
  }
  if (result.rule == kByHash) return "the stored hashes differ";
  if (statistics) {
    return fmt::format(
        "stored norm, mean, smallest or largest value differs by {:.3g}, {:.3g} x the limit",
        result.error, result.ratio);
  }
  if (result.test == Test::grid) {
    return fmt::format(
        "every value is one of a 16-bit type, where the reference's are finer: "
        "relative error {:.3g} ({})",
        m.rel(), result.limit.source);
  }
  if (wrong_by_itself(result)) {
    return fmt::format("relative error {:.3g} {} {:.3g}{}", m.rel(),
                       m.rel() > result.limit.rel ? "beside a limit of" : "is within the limit",
                       result.limit.rel, by_itself_words(result));
  }
  if (result.limit.rel == 0) {
    return fmt::format("{} of {} elements differ, relative error {:.3g}; none may",
                       m.unequal_values, m.count, m.rel());
  }
  if (result.test == Test::moved) {
    return fmt::format("values are apart by {:.3g} % on average, {:.3g} x what {} may",
                       100 * result.error, result.ratio,
                       result.odd ? "the same tensor of other layers" : "rounding");
  }
  const std::string_view what = result.test == Test::row       ? "worst row error"
                                : result.test == Test::outlier ? "worst element error"
                                                               : "relative error";
  std::string text = fmt::format("{} {:.3g} is {:.3g} x the limit {:.3g}", what, result.error,
                                 result.ratio, result.allowed);
  if (result.test == Test::rest) {
    text += fmt::format(", of all but {} elements that are {:.3g} on both sides",
                        result.sentinel->count, result.sentinel->value);
  }
  return text;
}

/// Empty where it is clear.
std::string_view borderline_words(const TensorResult& result) {
  if (!result.is_borderline()) return "";
  switch (result.limit.kind) {
    case LimitKind::state:
      return "; borderline: an ancestor (--base) or repeated runs (calibrate) would settle it";
    case LimitKind::measured:
      return "; borderline: more repeated runs (calibrate) would settle it";
    default:
      return "; borderline: repeated runs (calibrate) would settle it";
  }
}

void place(Finding& finding, const Identity& identity, std::optional<std::int64_t> step) {
  finding.step = step;
  finding.phase = identity.phase;
  finding.op = std::string(module_of(identity));
  finding.tensor = identity.name;
  finding.microbatch = identity.microbatch;
  finding.call = identity.call;
}

/// The pipeline stage of a rank; 0 for one that the mesh does not list.
std::int64_t stage_of(const Mesh& mesh, std::int32_t rank) {
  const bool listed = rank >= 0 && (mesh.size_of("pp") > 1) && rank < mesh.world_size();
  return listed ? coordinate(mesh.coordinates(rank), "pp") : 0;
}

/// A tensor is on two pipeline stages only where they share it: an embedding and the head tied to
/// it. True when `ranks` hold such copies, and the tensor itself is on other stages.
bool is_tie(const Tensor& tensor, const std::vector<std::int32_t>& ranks, const Mesh& mesh) {
  std::set<std::int64_t> stages;
  for (const Piece& piece : tensor.pieces) stages.insert(stage_of(mesh, piece.rank));
  return !stages.empty() && std::ranges::none_of(ranks, [&](std::int32_t rank) {
    return stages.contains(stage_of(mesh, rank));
  });
}

/// The copies of these ranks; without ranks, the one at `where`.
std::string copy_name(std::span<const std::int32_t> ranks, const std::optional<Where>& where) {
  if (!ranks.empty()) return fmt::format("rank {}", fmt::join(ranks, ", "));
  return where ? fmt::format("the copy in {}", where->file) : "a copy";
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool replicas_are_strict(Phase phase) {
  switch (phase) {
    case Phase::forward:
    case Phase::loss:
    case Phase::backward:
    case Phase::comm:
      return false;
    default:
      return true;
  }
}

Finding divergence_finding(const TensorResult& result, const Mesh& candidate_mesh) {
  Finding finding;
  finding.code = Code::diverged;
  if (result.test == Test::non_finite) finding.code = Code::non_finite;
  if (result.test == Test::grid) finding.code = Code::precision;
  if (result.test == Test::unmoved) finding.code = Code::stale_replica;
  place(finding, result.identity, result.step);
  finding.ranks = result.wrong_ranks;
  finding.axes = axes_of(result.wrong_ranks, candidate_mesh);
  if (result.places) {
    finding.where = result.places->candidate;
    finding.reference_where = result.places->reference;
  }
  finding.candidate_tensor = result.candidate_name;
  const std::int64_t worst = worst_index(result.metrics);
  if (worst >= 0) finding.index = unravel(result.shape, worst);
  finding.error = result.error;
  finding.limit = result.allowed;
  finding.limit_source = result.limit.source;
  finding.ratio = result.ratio;
  finding.message = divergence_message(result) + std::string(borderline_words(result));
  finding.why = finding.message.size();
  return finding;
}

Finding replica_finding(const Tensor& tensor, std::optional<std::int64_t> step,
                        std::vector<std::int32_t> ranks, const Mesh& mesh, std::string_view side) {
  Finding finding;
  const bool tie = is_tie(tensor, ranks, mesh);
  finding.code = tie ? Code::tie_mismatch : Code::replica_mismatch;
  place(finding, tensor.identity, step);
  std::size_t rankless = 0;
  const auto find_place = [&](const std::vector<Piece>& copies) {
    for (const Piece& piece : copies) {
      if (ranks.empty() || piece.rank != ranks.front()) continue;
      finding.where = piece.where();
      if (piece.rank == kNoRank) ++rankless;
    }
  };
  find_place(tensor.replicas);
  for (const auto& copies : tensor.term_replicas) find_place(copies);
  if (rankless > 1) finding.where.reset();  // one of them, it is not known which
  std::erase(ranks, kNoRank);
  finding.axes = axes_of(ranks, mesh);
  std::vector<std::int32_t> first;
  std::optional<Where> first_place;
  if (const Piece* primary = first_piece(tensor)) {
    first_place = primary->where();
    if (primary->rank != kNoRank) first.push_back(primary->rank);
  }
  finding.message =
      fmt::format("{} of the {} differ: {} not as {}", tie ? "tied copies" : "replicas", side,
                  copy_name(ranks, finding.where), copy_name(first, first_place));
  finding.ranks = std::move(ranks);
  return finding;
}

Finding leftover_finding(const Tensor& tensor, std::optional<std::int64_t> step, Code code,
                         Severity severity) {
  Finding finding;
  finding.code = code;
  finding.severity = severity;
  place(finding, tensor.identity, step);
  const Piece* piece = first_piece(tensor);
  const bool missing = code == Code::missing;
  if (piece != nullptr) (missing ? finding.reference_where : finding.where) = piece->where();
  finding.message = fmt::format("{} {} is only in the {}", name(tensor.dtype),
                                to_string(tensor.shape), missing ? "reference" : "candidate");
  return finding;
}

Finding shape_finding(const Tensor& reference, const Tensor& candidate,
                      std::optional<std::int64_t> step) {
  Finding finding;
  finding.code = Code::shape_or_dtype;
  place(finding, reference.identity, step);
  if (const Piece* piece = first_piece(candidate)) finding.where = piece->where();
  if (const Piece* piece = first_piece(reference)) finding.reference_where = piece->where();
  if (candidate.identity.name != reference.identity.name) {
    finding.candidate_tensor = candidate.identity.name;
  }
  finding.message =
      fmt::format("shape {} {} in the reference, {} {} in the candidate", name(reference.dtype),
                  to_string(reference.shape), name(candidate.dtype), to_string(candidate.shape));
  return finding;
}

Finding note(Code code, std::optional<std::int64_t> step, std::string message) {
  Finding finding;
  finding.code = code;
  finding.severity = Severity::note;
  finding.step = step;
  finding.message = std::move(message);
  return finding;
}

Finding guess_finding(const Tensor& reference, const Tensor& candidate,
                      std::optional<std::int64_t> step, std::int64_t count) {
  Finding finding = shape_finding(reference, candidate, step);
  finding.code = Code::missing_rank;
  finding.severity = Severity::note;
  finding.incomplete = true;
  finding.message = fmt::format(
      "{} not compared: without the missing ranks nothing says how large {}; the first is at most "
      "{} "
      "in the reference, {} in the candidate",
      count == 1 ? "1 tensor is" : fmt::format("{} tensors are", count),
      count == 1 ? "it is" : "they are", to_string(reference.shape), to_string(candidate.shape));
  return finding;
}

bool names_cause(const Finding& finding) {
  return finding.code != Code::diverged && finding.code != Code::localised &&
         finding.code != Code::residual_is;
}

}  // namespace ttcheck::verdict
