// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which blocks of a parameter each tensor-parallel rank holds, where `universal_checkpoint_info`
// states that part by part: `affine_map` (deepspeed/checkpoint/affine.py `ParamAffineMap`), and of
// parameters that are several ones behind each other `parameter_with_sub_params` with
// `sub_param_shard_widths` (deepspeed/checkpoint/ds_to_universal.py `merge_tp_slices`). A map
// counts before all other rules; sub-parameters only where none of replicated, averaged or two
// halves fits, before a dimension.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/deepspeed/name_pattern.hpp"
#include "formats/deepspeed/values.hpp"

namespace ttcheck::formats {

/// A row-major block of the logical tensor, and where it begins in the part, in elements.
struct DeepspeedBlock {
  Shape logical;
  Extents lo;
  Shape shape;
  std::int64_t begin = 0;
};

/// The rows of one of several parameters that lie behind each other: on the ranks before, on this
/// one, and on all.
struct SubParamRows {
  std::int64_t before = 0, here = 0, all = 0;

  bool operator==(const SubParamRows&) const = default;
};

/// The blocks of a part of such rows; none where it has another number of them. Throws Error on
/// overflow.
std::optional<std::vector<DeepspeedBlock>> blocks_of_rows(const Shape& shape,
                                                          const std::vector<SubParamRows>& rows);

class DeepspeedPieces {
 public:
  /// Reads `info`, a model's rules. Maps whose blocks are scaled, or do not lie one behind another
  /// in a part, are a finding and not used. Throws Error when there are too many.
  static DeepspeedPieces read(Value info, WalkBudget& budget, const Where& where,
                              std::vector<Finding>& findings);

  bool has_map(std::string_view name) const { return affine(name) != nullptr; }
  bool has_sub_params(std::string_view name) const { return sub_params(name) != nullptr; }

  /// True where several entries of the kind that counts fit and say different things; the first is
  /// used.
  bool has_several(std::string_view name) const;

  /// The blocks in the part of rank `rank` of `count`; none where nothing is stated of the name, or
  /// something that a part of that shape does not fit.
  std::optional<std::vector<DeepspeedBlock>> blocks_of(std::string_view name, const Shape& shape,
                                                       std::int64_t rank, std::int64_t count) const;

 private:
  struct Part {
    Shape shape;
    std::vector<DeepspeedBlock> blocks;
  };
  using Parts = std::map<std::int64_t, Part>;  ///< by rank

  struct Affine {
    DeepspeedPattern pattern;
    Parts parts;
  };

  /// What is stated of sub-parameters, the first that is not empty.
  struct SubParams {
    DeepspeedPattern pattern;
    std::vector<std::vector<SubParamRows>> ranks;  ///< rows of each, by rank
    std::vector<std::int64_t> sizes;               ///< rows of each, cut evenly
    std::int64_t equal = 0;                        ///< how many there are, of as many rows each
  };

  class Reader;

  static std::vector<SubParamRows> rows_of(const SubParams& stated, const Shape& shape,
                                           std::int64_t rank, std::int64_t count);
  const Affine* affine(std::string_view name) const;
  const SubParams* sub_params(std::string_view name) const;

  std::vector<Affine> affine_;
  std::vector<SubParams> sub_params_;
};

}  // namespace ttcheck::formats
