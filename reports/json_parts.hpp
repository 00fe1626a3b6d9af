#pragma once
// The nouns as JSON values; keys in the order of schema 1.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

using Json = nlohmann::ordered_json;

Json number(double value);                    ///< "nan" "inf" "-inf" where JSON has no number
Json text(const std::string& value);          ///< escaped to valid UTF-8
Json text_or_null(const std::string& value);  ///< empty: null

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const std::optional<RunSummary>& run);  ///< nothing: null
Json json_of(const Coverage& coverage);
Json json_of(const std::optional<Divergence>& first);
Json json_of(const Search& search);
Json json_of(const Calibration& calibration, bool all);
/// Of the verdict's only tensor; every bin of its axes with --all, else the worst.
Json json_of(const Shown& shown, const Verdict& verdict, const ReportOptions& options);
Json where_of(const std::optional<Where>& where);  ///< nothing: null
Json json_of(const Finding& finding);
Json json_of(const FactResult& fact);
Json json_of(const TensorResult& tensor);

}  // namespace ttcheck::reports
