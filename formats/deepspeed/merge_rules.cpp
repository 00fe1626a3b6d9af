// SPDX-License-Identifier: Apache-2.0
// The rules are tried in the order of DeepSpeed's merge: an affine map, replicated or averaged,
// two halves, sub-parameters, the second dimension; a parameter that none fits is cut along the
// first. A rule that is passed over changes how parts are put together, so that an expression
// that is not understood, one that no parameter fits, and a parameter that several kinds fit are
// all findings.
//
// `check` holds the rules against all shapes before any part is placed. Parts whose shape is not
// what an affine map, sub-parameters or two halves need are named there and put together by the
// rest. Rows are left out as padding if they are fewer than `make_vocab_size_divisible_by` (where
// it is stated) times the ranks; once one parameter's cannot be that, none are. Up to 4096
// literal expressions and 256 others are used, as a match costs time. What is no text is no
// expression, not an empty one, which would fit all names.

#include "formats/deepspeed/merge_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostExpressions = 256;  ///< that are not literal
constexpr std::size_t kMostLiterals = 4096;    ///< which cost little

/// Keys of lists of expressions; those of one kind are tried together.
struct RuleKind {
  std::string_view key;
  DeepspeedMerge merge;
};
constexpr std::string_view kHalves = "parameter_with_2_sub_params_cat_dim_0";
constexpr std::array<RuleKind, 4> kRuleKinds = {{
    {"tp_replicated_parameter_patterns", DeepspeedMerge::replicated},
    {"parameter_to_average_patterns", DeepspeedMerge::replicated},
    {kHalves, DeepspeedMerge::halves},
    {"parameter_with_row_parallelism_patterns", DeepspeedMerge::rows},
}};
constexpr std::string_view kVocabulary = "vocabulary_parameter_patterns";
/// Parameters that DeepSpeed itself cannot put together.
constexpr std::string_view kUnsupported = "autotp_unsupported_parameter_patterns";

}  // namespace

std::optional<DeepspeedRules> DeepspeedRules::read(Value model_states, WalkBudget& budget,
                                                   const Where& where,
                                                   std::vector<Finding>& findings) {
  const Value info = item_of(model_states, "universal_checkpoint_info");
  if (!mapping(info)) return std::nullopt;
  DeepspeedRules rules;
  std::size_t expressions = 0;
  std::size_t literals = 0;
  Findings said;
  const auto take = [&](std::string_view key, Expressions& into) {
    const Value list = item_of(info, key);
    if (list && !budget.look_at(list))
      throw Error::unable("limit reached: too many expressions", where);
    const auto items = sequence(list);
    if (list && !list.is_none() && !items)
      said.add(odd(where, fmt::format("{} is no list of expressions, and fits none", key),
                   Code::name_mapping));
    for (const Value& item : items.value_or(std::vector<Value>())) {
      const auto text = item.text();
      auto pattern = text ? DeepspeedPattern::parse(*text) : std::nullopt;
      const bool literal = pattern && pattern->literal();
      if (pattern && (literal ? ++literals <= kMostLiterals : ++expressions <= kMostExpressions)) {
        if (!budget.keep(text->size()))
          throw Error::unable("limit reached: too many expressions", where);
        into.push_back({std::string(*text), std::move(*pattern)});
        continue;
      }
      const std::string shown = text ? fmt::format("the expression `{}`", text->substr(0, 80))
                                     : "an expression that is no text";
      said.add(odd(where, fmt::format("{}: {} is not understood, and fits none", key, shown),
                   Code::name_mapping));
    }
  };
  for (const RuleKind& kind : kRuleKinds) {
    take(kind.key, rules.merges_[static_cast<std::size_t>(kind.merge)]);
  }
  take(kVocabulary, rules.vocabulary_);
  for (Finding& finding : said.take()) findings.push_back(std::move(finding));
  rules.rows_ = item_of(info, "original_vocab_size").integer();
  for (const auto& [key, value] : attributes(item_of(model_states, "args"))) {
    if (key.text() == "make_vocab_size_divisible_by") rules.multiple_ = value.integer().value_or(0);
  }
  rules.pieces_ = DeepspeedPieces::read(info, budget, where, findings);
  if (const auto unsupported = mapping(item_of(info, kUnsupported));
      unsupported && !unsupported->empty()) {
    findings.push_back(odd(where,
                           fmt::format("universal_checkpoint_info has {}: parts of its parameters "
                                       "may lie elsewhere",
                                       kUnsupported),
                           Code::name_mapping));
  }
  return rules;
}

bool DeepspeedRules::any(const Expressions& expressions, std::string_view name) {
  return std::ranges::any_of(expressions,
                             [&](const Expression& one) { return one.pattern.matches(name); });
}

DeepspeedMerge DeepspeedRules::merge_of(std::string_view name) const {
  for (std::size_t kind = 0; kind < merges_.size(); ++kind) {
    if (any(merges_[kind], name)) return static_cast<DeepspeedMerge>(kind);
  }
  return DeepspeedMerge::first;
}

/// Whether the pieces say how a parameter lies, in the order of `merge_tp_slices`.
bool DeepspeedRules::by_pieces(std::string_view name) const {
  if (unfit_.contains(name)) return false;
  if (pieces_.has_map(name)) return true;
  const DeepspeedMerge merge = merge_of(name);
  return (merge == DeepspeedMerge::rows || merge == DeepspeedMerge::first) &&
         pieces_.has_sub_params(name);
}

std::optional<std::vector<DeepspeedBlock>> DeepspeedRules::blocks_of(std::string_view name,
                                                                     const Shape& shape,
                                                                     std::int64_t rank,
                                                                     std::int64_t count) const {
  if (count == 1 || !by_pieces(name)) return std::nullopt;
  return pieces_.blocks_of(name, shape, rank, count);
}

/// Rows of the whole, whose part on that rank has that shape.
std::int64_t DeepspeedRules::rows_there(std::string_view name, std::int64_t rank,
                                        const Shape& shape, std::int64_t ranks) const {
  const auto stated = blocks_of(name, shape, rank, ranks);
  if (stated && !stated->empty()) return stated->front().logical[0];
  const DeepspeedMerge merge = merge_of(name);
  const bool as_part =
      merge == DeepspeedMerge::replicated || (merge == DeepspeedMerge::rows && shape.size() > 1);
  return as_part ? shape[0] : checked_mul(shape[0], ranks);
}

std::optional<std::int64_t> DeepspeedRules::vocabulary_of(std::string_view name) const {
  return rows_ && any(vocabulary_, name) ? rows_ : std::nullopt;
}

/// A finding where one of the parts is not as it is stated.
std::optional<Finding> DeepspeedRules::check_pieces(const std::string& name,
                                                    const std::map<std::int64_t, Shape>& parts,
                                                    std::int64_t ranks, const Where& where) {
  const auto other = std::ranges::find_if(parts, [&](const auto& part) {
    return !pieces_.blocks_of(name, part.second, part.first, ranks);
  });
  if (other == parts.end()) return std::nullopt;
  unfit_.insert(name);
  return found(Code::shape_or_dtype,
               fmt::format("parts of shape [{}] are not those that universal_checkpoint_info "
                           "states; they are put together by its other rules",
                           fmt::join(other->second, ", ")),
               where, name);
}

void DeepspeedRules::check(const DeepspeedPartShapes& shapes, std::int64_t ranks,
                           const Where& where, std::vector<Finding>& findings) {
  Findings said;
  const auto check_used = [&](const Expressions& expressions) {
    for (const Expression& one : expressions) {
      const bool used = std::ranges::any_of(
          shapes, [&](const auto& parameter) { return one.pattern.matches(parameter.first); });
      if (used) continue;
      said.add(odd(where, fmt::format("no parameter fits the expression `{}`", one.text),
                   Code::name_mapping));
    }
  };
  for (const Expressions& expressions : merges_) check_used(expressions);
  check_used(vocabulary_);
  for (const auto& [name, parts] : shapes) {
    const auto& [rank, shape] = *parts.begin();
    const auto kinds = std::ranges::count_if(
        merges_, [&](const Expressions& expressions) { return any(expressions, name); });
    if (kinds > 1) {
      Finding several = odd(where, "expressions of several kinds fit it; the first kind is used",
                            Code::name_mapping);
      several.tensor = name;
      said.add(std::move(several));
    }
    if (ranks > 1 && pieces_.has_several(name)) {
      Finding several = odd(where,
                            fmt::format("expressions of several {} fit it; the first is used",
                                        pieces_.has_map(name) ? "affine maps" : "sub-parameters"),
                            Code::name_mapping);
      several.tensor = name;
      said.add(std::move(several));
    }
    if (ranks > 1 && by_pieces(name)) {
      if (auto unfit = check_pieces(name, parts, ranks, where)) said.add(std::move(*unfit));
    } else if (ranks > 1 && merge_of(name) == DeepspeedMerge::halves && !has_halves(shape)) {
      said.add(found(Code::shape_or_dtype,
                     fmt::format("{} says that parts of shape [{}] are of two halves; they are "
                                 "put one behind the other",
                                 kHalves, fmt::join(shape, ", ")),
                     where, name));
    }
    if (!vocabulary_of(name) || shape.empty()) continue;
    const std::int64_t rows = rows_there(name, rank, shape, ranks);
    if (auto padding = check_vocabulary(name, rows, ranks, where)) {
      said.add(std::move(*padding));
    }
  }
  for (Finding& finding : said.take()) findings.push_back(std::move(finding));
}

std::optional<Finding> DeepspeedRules::check_vocabulary(const std::string& name, std::int64_t there,
                                                        std::int64_t ranks, const Where& where) {
  const bool possible = *rows_ >= 1 && *rows_ <= there;
  if (possible && (multiple_ < 1 || (there - *rows_) / multiple_ < ranks)) {
    if (*rows_ == there) return std::nullopt;
    return remark(where,
                  fmt::format("rows {} to {} of {} pad the vocabulary, and are left out", *rows_,
                              there - 1, name),
                  Code::padding);
  }
  const std::string message = fmt::format(
      "original_vocab_size is {}, the ranks hold {} rows, which is not that and "
      "padding; no row is left out",
      *rows_, there);
  rows_.reset();
  return found(Code::padding, message, where, name);
}

}  // namespace ttcheck::formats
