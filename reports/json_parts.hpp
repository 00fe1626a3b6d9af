// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nouns as JSON values; keys in the order of schema 1.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// One that will be an object begins as one: of null the library makes an object in two steps,
/// between which there may be no memory.
using OrderedJson = nlohmann::ordered_json;

OrderedJson number(double value);            ///< "nan" "inf" "-inf" where JSON has no number
OrderedJson text(const std::string& value);  ///< escaped to valid UTF-8
OrderedJson text_or_null(const std::string& value);  ///< empty: null

template <class T>
OrderedJson value_or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

/// All but its lists: the first keys of a report.
OrderedJson summary_of(const Verdict& verdict);

OrderedJson json_of(const std::optional<RunSummary>& run);  ///< nothing: null
/// Nothing, or one that nothing decides: null.
OrderedJson json_of(const std::optional<Relation>& relation);
OrderedJson json_of(const Coverage& coverage);
OrderedJson json_of(const Tally& tally);
OrderedJson json_of(const ErrorRoot& root);
OrderedJson json_of(const std::optional<Before>& before);  ///< nothing: null
OrderedJson json_of(const std::optional<Divergence>& first);
OrderedJson json_of(const Search& search);
OrderedJson json_of(const Calibration& calibration, bool all);
/// What lies where in the verdict's only tensor; every bin of its axes with --all, else the worst.
OrderedJson json_of(const Shown& shown, const Verdict& verdict, const ReportOptions& options);
OrderedJson where_of(const std::optional<Where>& where);  ///< nothing: null
OrderedJson json_of(const Finding& finding);
OrderedJson json_of(const FactResult& fact);
OrderedJson json_of(const TensorResult& tensor);

}  // namespace ttcheck::reports
