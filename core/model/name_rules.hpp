// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules by which a tensor of one side meets one of the other, and what a pair was compared by
// where that is not its bytes. A result names its rule (TensorResult::rule); `diff --show-map` and
// ttcheck-diff(1) print the rows.

#include <span>
#include <string>
#include <string_view>

namespace ttcheck {

/// One row.
struct NameRule {
  std::string_view name;  ///< as results have it; A, B, RULE and SCHEME stand for what they fill in
  std::string_view says;  ///< what meets what, and what is asked of both
};

inline constexpr std::string_view kSameName = "same";
inline constexpr std::string_view kOrderOfOps = "order of ops";
inline constexpr std::string_view kWrapperPrefix = "wrapper prefix";
inline constexpr std::string_view kAdapterName = "adapter name";
inline constexpr std::string_view kModelPrefix = "model prefix";
inline constexpr std::string_view kLanguagePrefix = "language model prefix";
inline constexpr std::string_view kFromOne = "layers counted from 1";
inline constexpr std::string_view kOnePrefix = "prefix P of the SIDE";
inline constexpr std::string_view kNormNames = "gamma and beta of norms";
inline constexpr std::string_view kOtherNames = "A for B names";
inline constexpr std::string_view kSpellings = "A spellings";
inline constexpr std::string_view kMasterForParameter = "master-for-param";
inline constexpr std::string_view kTupleForField = "tuple position for field";
inline constexpr std::string_view kTiedForLayer = "tied module for its layer";
inline constexpr std::string_view kSharedCopy = "copy of a shared parameter";
inline constexpr std::string_view kNamedInput = "input as its op names it";
inline constexpr std::string_view kTiedParameter = "tied parameter";
inline constexpr std::string_view kEqualBytes = "equal bytes";
inline constexpr std::string_view kUserMap = "map RULE";
inline constexpr std::string_view kDequantised = "dequant(SCHEME)";
inline constexpr std::string_view kByManifest = "manifest";
inline constexpr std::string_view kByHash = "hash";
inline constexpr std::string_view kByStatistics = "statistics";

/// The rule of pairs that met without a prefix of the names of that side (`candidate`).
std::string prefix_rule(std::string_view prefix, std::string_view side);

/// Whether a rule is one of these.
bool is_prefix_rule(std::string_view rule);

/// The rows in the order in which they are tried: what met is not asked for again.
std::span<const NameRule> name_rules();

/// The row that makes a rule of a result or a pair, the first where it names several (`hf for
/// megatron names, master-for-param`). Null where none does.
const NameRule* name_rule(std::string_view rule);

}  // namespace ttcheck
