// SPDX-License-Identifier: Apache-2.0
#include "core/model/codes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck {
namespace {

constexpr CodeInfo kCodes[] = {
    {Code::replica_mismatch, "replica-mismatch", "replicas of one tensor differ between ranks"},
    {Code::partial_sum, "partial-sum",
     "value is one rank's partial; the sum (or mean) over an axis equals the reference"},
    {Code::tie_mismatch, "tie-mismatch", "tied tensors (embedding and head, across stages) differ"},
    {Code::unexpectedly_equal, "unexpectedly-equal",
     "shards, layers, experts or masks that must differ are identical", true},
    {Code::conservation, "conservation",
     "a collective's output is not the reduction of its inputs"},
    {Code::stale_replica, "stale-replica", "a rank holds another step's value"},
    {Code::scale, "scale", "candidate = k x reference"},
    {Code::offset, "offset", "candidate = reference + c"},
    {Code::mean_of_means, "mean-of-means", "per-micro-batch factors N/(GA n_i)"},
    {Code::norm_mismatch, "norm-mismatch", "logged norm is not the norm of the gradients"},
    {Code::permutation, "permutation", "a named rearrangement repairs it"},
    {Code::layer_mapping, "layer-mapping", "layers dropped, duplicated or misnumbered"},
    {Code::padding, "padding", "vocabulary or buffer padding taken for data"},
    {Code::name_mapping, "name-mapping", "names do not meet; a renaming is proposed"},
    {Code::missing, "missing", "the reference has a tensor or op that the candidate lacks"},
    {Code::unexpected, "unexpected", "the candidate has a tensor or op that the reference lacks"},
    {Code::shape_or_dtype, "shape-or-dtype",
     "one tensor has another shape or dtype on the two sides, or a file's shape contradicts its "
     "layout"},
    {Code::byte_order, "byte-order", "the bytes are in the other byte order"},
    {Code::config, "config",
     "facts that shape the function or the update differ (rope, eps, tie, learning rate, betas)"},
    {Code::step_counter, "step-counter", "optimizer step counters disagree or were reset"},
    {Code::moments_reset, "moments-reset", "moments zero or lost across a resume"},
    {Code::update_mismatch, "update-mismatch",
     "p(t+1) is not the optimizer's update of p(t) (learning rate, decay, betas solved for)", true},
    {Code::master_mismatch, "master-mismatch",
     "fp32 master and model weight disagree, or masters were rebuilt from 16 bit"},
    {Code::lr_seam, "lr-seam", "the learning rate jumps where the run was resumed", true},
    {Code::data_replay, "data-replay", "training data is repeated, skipped or replayed"},
    {Code::rng_seam, "rng-seam", "random state was not carried over a resume"},
    {Code::frozen, "frozen", "a parameter that should train does not move", true},
    {Code::moved_though_frozen, "moved-though-frozen", "a frozen parameter moves", true},
    {Code::unreadable, "unreadable",
     "truncated or malformed; named by file and offset; the rest is still analysed"},
    {Code::checksum, "checksum", "stored checksum does not match"},
    {Code::torn, "torn", "hole or never-written region"},
    {Code::overlap, "overlap", "pieces of one logical tensor overlap"},
    {Code::omission, "omission", "part of a logical tensor is covered by no piece"},
    {Code::duplicate_checkpoint, "duplicate-checkpoint", "payload identical to another step's"},
    {Code::mixed_step, "mixed-step", "parts of one checkpoint come from different steps"},
    {Code::missing_rank, "missing-rank", "a rank of the mesh left nothing behind"},
    {Code::unsafe_pickle, "unsafe-pickle",
     "pickle refers to callables outside the known set (never called)"},
    {Code::degenerate, "degenerate", "many dumps with identical content, all zero, constant"},
    {Code::diverged, "diverged", "error beyond limit, no better explanation"},
    {Code::non_finite, "non-finite", "first NaN/Inf: op, rank, step, and how it spread"},
    {Code::precision, "precision", "values lie on a coarser grid than their dtype"},
    {Code::op_wrong, "op-wrong", "recomputed from its own dumped inputs, the op's output is wrong"},
    {Code::localised, "localised",
     "damage confined to rows, heads, positions, blocks, one rank's slice"},
    {Code::unmeasured_noise, "unmeasured-noise",
     "verdict rests on the built-in limit model; repeats would settle it"},
    {Code::nondeterministic, "nondeterministic", "repeated runs of one configuration differ"},
    {Code::batch_variant, "batch-variant",
     "the value of a sample depends on what it is batched with"},
    {Code::out_of_range, "out-of-range", "values no trained tensor has", true},
    {Code::looks_like_init, "looks-like-init", "a tensor that never left its initial distribution",
     true},
    {Code::residual_is, "residual-is",
     "candidate - reference equals a known tensor (another step, another rank's part, the "
     "parameter, an unreduced sum)"},
    {Code::trained_apart, "trained-apart",
     "weights are apart as other or further training moves them, not as rounding does"},
    {Code::odd_one_out, "odd-one-out",
     "one tensor of two states that are apart differs otherwise than its siblings"},
    {Code::bit_flip, "bit-flip", "one bit of one element is flipped"},
    {Code::tile, "tile", "a rectangular tile of the tensor is wrong"},
    {Code::chunk, "chunk", "a contiguous run of bytes is wrong"},
    {Code::invariant, "invariant", "a learned or written invariant is violated", true},
    {Code::counter, "counter", "a counter does not advance as the rule says", true},
    {Code::replay, "replay", "a replayed computation does not give the recorded value", true},
};

}  // namespace

std::span<const CodeInfo> codes() { return kCodes; }

const CodeInfo& info(Code code) {
  const auto* row = std::ranges::find(kCodes, code, &CodeInfo::code);
  return row == std::end(kCodes) ? kCodes[0] : *row;
}

std::string to_string(Code code) { return fmt::format("TT{}", static_cast<int>(code)); }

std::optional<Code> code_named(std::string_view word) {
  std::string_view number = word;
  if (number.starts_with("TT") || number.starts_with("tt")) number.remove_prefix(2);
  for (const CodeInfo& row : kCodes) {
    if (row.name == word || fmt::format("{}", static_cast<int>(row.code)) == number) {
      return row.code;
    }
  }
  return std::nullopt;
}

}  // namespace ttcheck
