// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finding codes: stable numbers, added to and never renumbered.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ttcheck {

enum class Code : std::uint16_t {
  replica_mismatch = 101,
  partial_sum = 102,
  tie_mismatch = 103,
  unexpectedly_equal = 104,
  conservation = 105,
  stale_replica = 106,
  scale = 201,
  offset = 202,
  mean_of_means = 203,
  norm_mismatch = 204,
  permutation = 301,
  layer_mapping = 302,
  padding = 303,
  name_mapping = 304,
  missing = 305,
  unexpected = 306,
  shape_or_dtype = 307,
  byte_order = 308,
  config = 309,
  step_counter = 401,
  moments_reset = 402,
  update_mismatch = 403,
  master_mismatch = 404,
  lr_seam = 405,
  data_replay = 406,
  rng_seam = 407,
  frozen = 408,
  moved_though_frozen = 409,
  unreadable = 501,
  checksum = 502,
  torn = 503,
  overlap = 504,
  omission = 505,
  duplicate_checkpoint = 506,
  mixed_step = 507,
  missing_rank = 508,
  unsafe_pickle = 509,
  degenerate = 510,
  diverged = 601,
  non_finite = 602,
  precision = 603,
  op_wrong = 604,
  localised = 605,
  unmeasured_noise = 606,
  nondeterministic = 607,
  batch_variant = 608,
  out_of_range = 609,
  looks_like_init = 610,
  residual_is = 611,
  trained_apart = 612,
  odd_one_out = 613,
  bit_flip = 701,
  tile = 702,
  chunk = 703,
  invariant = 801,
  counter = 802,
  replay = 803,
};

struct CodeInfo {
  Code code;
  std::string_view name;
  std::string_view summary;  ///< one line: what the finding says
  bool reserved = false;     ///< nothing makes it yet
};

/// All rows, by number.
std::span<const CodeInfo> codes();

const CodeInfo& info(Code code);
std::string to_string(Code code);  ///< "TT601"

/// The code of "TT601", "tt601", "601" or its name.
std::optional<Code> code_named(std::string_view word);

}  // namespace ttcheck
