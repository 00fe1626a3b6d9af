#include "formats/deepspeed_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostExpressions = 256;  ///< that are not literal; others cost little

/// Keys of lists of expressions; those of one kind are tried together.
struct Kind {
  std::string_view key;
  DeepspeedMerge merge;
};
constexpr std::array<Kind, 4> kKinds = {{
    {"tp_replicated_parameter_patterns", DeepspeedMerge::replicated},
    {"parameter_to_average_patterns", DeepspeedMerge::replicated},
    {"parameter_with_2_sub_params_cat_dim_0", DeepspeedMerge::halves},
    {"parameter_with_row_parallelism_patterns", DeepspeedMerge::rows},
}};
constexpr std::string_view kVocabulary = "vocabulary_parameter_patterns";
/// Keys whose rules are not known here.
constexpr std::array<std::string_view, 3> kOthers = {"parameter_with_sub_params", "affine_map",
                                                     "autotp_unsupported_parameter_patterns"};

}  // namespace

std::optional<DeepspeedRules> DeepspeedRules::read(Value info, WalkBudget& budget,
                                                   const Where& where,
                                                   std::vector<Finding>& findings) {
  if (!mapping(info)) return std::nullopt;
  DeepspeedRules rules;
  std::size_t expressions = 0;
  const auto take = [&](std::string_view key, Expressions& into) {
    const Value list = item_of(info, key);
    if (list && !budget.look_at(list)) throw Error("limit reached: too many expressions", where);
    for (const Value& item : sequence(list).value_or(std::vector<Value>())) {
      const std::string text(item.text().value_or(""));
      auto pattern = DeepspeedPattern::parse(text);
      if (pattern && (pattern->literal() || ++expressions <= kMostExpressions)) {
        into.push_back({text, std::move(*pattern)});
        continue;
      }
      findings.push_back(odd(where,
                             fmt::format("{}: the expression `{}` is not understood, and fits none",
                                         key, text.substr(0, 80)),
                             Code::name_mapping));
    }
  };
  for (const Kind& kind : kKinds) {
    take(kind.key, rules.merges_[static_cast<std::size_t>(kind.merge)]);
  }
  take(kVocabulary, rules.vocabulary_);
  rules.rows_ = item_of(info, "original_vocab_size").integer();
  for (const std::string_view key : kOthers) {
    const Value other = item_of(info, key);
    const bool there = (mapping(other) && !mapping(other)->empty()) ||
                       (sequence(other) && !sequence(other)->empty());
    if (!there) continue;
    findings.push_back(odd(where,
                           fmt::format("universal_checkpoint_info has {}, which is not read: parts "
                                       "of its parameters may lie elsewhere",
                                       key),
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

std::optional<std::int64_t> DeepspeedRules::vocabulary_of(std::string_view name) const {
  return rows_ && any(vocabulary_, name) ? rows_ : std::nullopt;
}

void DeepspeedRules::check(const std::vector<std::string>& names, const Where& where,
                           std::vector<Finding>& findings) const {
  Findings said;
  const auto check_used = [&](const Expressions& expressions) {
    for (const Expression& one : expressions) {
      const bool used = std::ranges::any_of(
          names, [&](const std::string& name) { return one.pattern.matches(name); });
      if (used) continue;
      said.add(odd(where, fmt::format("no parameter fits the expression `{}`", one.text),
                   Code::name_mapping));
    }
  };
  for (const Expressions& expressions : merges_) check_used(expressions);
  check_used(vocabulary_);
  for (const std::string& name : names) {
    const auto kinds = std::ranges::count_if(
        merges_, [&](const Expressions& expressions) { return any(expressions, name); });
    if (kinds < 2) continue;
    Finding finding = odd(where, "expressions of several kinds fit it; the first kind is used",
                          Code::name_mapping);
    finding.tensor = name;
    said.add(std::move(finding));
  }
  for (Finding& finding : said.take()) findings.push_back(std::move(finding));
}

}  // namespace ttcheck::formats
