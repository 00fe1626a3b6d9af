// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names of a Megatron checkpoint's directories, one a model-parallel rank.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ttcheck::formats {

/// (tp, pp, ep) of a rank.
using RankPlace = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

/// The numbers of `mp_rank_TT`, `mp_rank_TT_XXX` or `mp_rank_TT_PPP_EEE`; none for other names.
std::vector<std::int64_t> rank_numbers(std::string_view name);

/// What the numbers mean: a pipeline or an expert number is there where there are several such
/// ranks. Nothing when they are too many or too few.
std::optional<RankPlace> place_of(const std::vector<std::int64_t>& numbers, bool pipeline,
                                  bool expert);

/// The name that Megatron gives the directory.
std::string directory_of(const RankPlace& place, bool pipeline, bool expert);

}  // namespace ttcheck::formats
