// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the tensor-parallel ranks' parts of a parameter are put together, where the model states it:
// `universal_checkpoint_info` of its model_states files (deepspeed/checkpoint/constants.py,
// deepspeed/checkpoint/ds_to_universal.py `merge_tp_slices`).

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/deepspeed/name_pattern.hpp"
#include "formats/deepspeed/tp_pieces.hpp"
#include "formats/deepspeed/values.hpp"

namespace ttcheck::formats {

enum class DeepspeedMerge : std::uint8_t {
  replicated,  ///< all ranks have the whole, equal or to be averaged
  halves,      ///< along the first dimension; each part is of two that are merged apart
  rows,        ///< along the second dimension
  first,       ///< along the first
};

/// The shapes of parameters' parts, by name and tensor-parallel rank.
using DeepspeedPartShapes = std::map<std::string, std::map<std::int64_t, Shape>, std::less<>>;

/// True where parts of that shape are of two halves along the first dimension.
inline bool has_halves(const Shape& shape) { return !shape.empty() && shape[0] % 2 == 0; }

class DeepspeedRules {
 public:
  /// The rules in a model_states file; none where there are none. What cannot be understood is a
  /// finding. Throws Error when there are too many.
  static std::optional<DeepspeedRules> read(Value model_states, WalkBudget& budget,
                                            const Where& where, std::vector<Finding>& findings);

  /// What counts before `merge_of`: the blocks that are stated of the part of rank `rank` of
  /// `count`; none where `merge_of` counts, as it does for a part that is all there is. Throws
  /// Error on overflow.
  std::optional<std::vector<DeepspeedBlock>> blocks_of(std::string_view name, const Shape& shape,
                                                       std::int64_t rank, std::int64_t count) const;

  DeepspeedMerge merge_of(std::string_view name) const;

  /// Rows of the vocabulary that are no padding, for a parameter that has them.
  std::optional<std::int64_t> vocabulary_of(std::string_view name) const;

  /// Says which expressions fit no parameter, which parameters several kinds or maps or no two
  /// halves fit, and which rows are left out as padding: none when the number stated cannot be.
  /// A parameter of which one part is not as maps or sub-parameters state is no more put together
  /// by them. `ranks`: tensor-parallel ones, which the ranks in `shapes` are below.
  void check(const DeepspeedPartShapes& shapes, std::int64_t ranks, const Where& where,
             std::vector<Finding>& findings);

 private:
  struct Expression {
    std::string text;
    DeepspeedPattern pattern;
  };
  using Expressions = std::vector<Expression>;

  static bool any(const Expressions& expressions, std::string_view name);
  bool by_pieces(std::string_view name) const;
  std::optional<Finding> check_pieces(const std::string& name,
                                      const std::map<std::int64_t, Shape>& parts,
                                      std::int64_t ranks, const Where& where);
  std::int64_t rows_there(std::string_view name, std::int64_t rank, const Shape& shape,
                          std::int64_t ranks) const;
  std::optional<Finding> check_vocabulary(const std::string& name, std::int64_t there,
                                          std::int64_t ranks, const Where& where);

  DeepspeedPieces pieces_;
  std::set<std::string, std::less<>> unfit_;  ///< whose parts are not those that are stated
  std::array<Expressions, 3> merges_;         ///< by DeepspeedMerge
  Expressions vocabulary_;
  std::optional<std::int64_t> rows_;  ///< original_vocab_size
  std::int64_t multiple_ = 0;         ///< of which a rank's rows are one (Megatron's argument)
};

}  // namespace ttcheck::formats
