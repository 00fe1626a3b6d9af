// SPDX-License-Identifier: Apache-2.0
#pragma once
// One `[[map]]` of the user: a renaming, or readings of what is cut or fused in another way.

#include <string>
#include <string_view>
#include <vector>

#include "core/align/recast.hpp"
#include "core/base/error.hpp"
#include "core/base/glob.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::align {

/// A map rule. Throws Error, naming the line of the map file, when it has no meaning.
class UserMap {
 public:
  explicit UserMap(const MapRule& rule);

  bool ignores() const { return op_.kind == OpKind::ignore; }
  bool renames() const {
    return op_.kind == OpKind::same || op_.kind == OpKind::tie || op_.kind == OpKind::cast ||
           op_.kind == OpKind::dequant;
  }
  /// One tensor for one, but their values differ.
  bool rescales() const { return op_.kind == OpKind::add || op_.kind == OpKind::scale; }
  const MapOp& op() const { return op_; }
  bool matches(std::string_view reference_name) const { return glob_.matches(reference_name); }

  /// The candidate's name of a reference name; empty when the rule does not match it. Optimizer
  /// state follows its parameter.
  std::string candidate_name(std::string_view reference_name) const;

  /// False for a weight that has another dtype than `cast` says.
  bool admits(const Tensor& candidate) const;

  /// The name that the side without this tensor keeps it under; empty when the rule does not say.
  std::string tied_to(std::string_view name) const;

  /// Whether it says of a weight, of either side, that it may be stored in 8 bits with scales.
  bool dequantises(std::string_view name) const;

  /// The scale that `{weight,scale}` of such a rule names beside a weight; empty when it does not.
  std::string scale_of(std::string_view name) const;

  /// How the rule sees a name, of either side: as one of its parts, or as the whole. State of the
  /// optimizer follows its parameter.
  std::vector<Reading> readings(const std::string& name) const;

 private:
  MapOp op_;
  Glob glob_;
  std::string to_;
  std::string scheme_;
  std::vector<std::string> parts_;  ///< patterns; `{q,k,v}` of the rule means all, in this order
  std::vector<Glob> part_globs_;
  Glob whole_;
};

}  // namespace ttcheck::align
