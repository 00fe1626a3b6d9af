// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reference x candidate -> pairs and leftovers, by names, with the rule that made each pair.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/align/alignment.hpp"
#include "core/align/contents.hpp"
#include "core/align/implied.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

struct AlignOptions {
  std::vector<MapRule> maps{};  ///< of the user
  Numbers numbers{};            ///< heads and the like, for the ops of maps
  /// The rule under which a tensor of either side counts as used (scales, for instance), by its
  /// name.
  std::map<std::string, std::string> used{};
  StatedTies reference_ties{}, candidate_ties{};                    ///< as the sides state them
  std::vector<std::string> reference_graphs{}, candidate_graphs{};  ///< modules compiled to one
  bool other_writer = false;            ///< the sides are of two formats
  ContentOf content{};                  ///< what tensors hold, where names do not tell
  ValuesOf values{};                    ///< and what they go with
  std::vector<JoinedModules> joined{};  ///< that earlier steps found
};

/// Every tensor of both sides ends in exactly one place: a pair, a leftover, or an exclusion.
/// Rules, in order; each only for names that are still alone and that it makes unambiguous:
/// what is used up elsewhere; the user's maps that change values; ops that are named by a counter,
/// in their order (core/align/counted_ops.hpp); layers counted from 1; equal identities; the user's
/// others; `unwrapped` names; names `without_adapter`; `bare` names; names behind one prefix
/// (core/align/pair_prefixed.hpp); gamma and beta of norms; the built-in maps between model
/// families (core/align/dialects.hpp); `master-for-param`, under one name and across families; a
/// namedtuple's position for its field; what the other side implies (core/align/implied.hpp), which
/// may pair a tensor of that side twice, as may an input that an op names
/// (core/align/named_inputs.hpp); equal bytes (core/align/pair_by_content.hpp); modules of
/// traces that are fused by equal bytes (core/align/joined_modules.hpp). Then
/// bookkeeping and further copies of the weights (core/align/unpaired_roles.hpp), rotary
/// frequencies that another family of names or another writer leaves out, calls inside what the
/// other side compiled to one graph (core/align/compiled_graphs.hpp), and a whole kind (in
/// traces: within one phase) that one side lacks is excluded under a rule of its own; weights of
/// checkpoints never are. Where a map cuts or fuses, tensors seen through it are added to
/// `candidate`, in whose place they are paired. `numbers`: of both runs, beside those of `options`.
/// Throws Error for a map op that it does not know, and for two maps that change one tensor's
/// values.
Alignment align(std::span<const Tensor> reference, std::vector<Tensor>& candidate,
                const AlignOptions& options, const Numbers& numbers = {});

}  // namespace ttcheck::align
