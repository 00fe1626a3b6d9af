#include "core/model/box.hpp"
#include "reports/json_parts.hpp"

namespace ttcheck::reports {
namespace {

Json counts_of(const NonFinite& counts) {
  return {{"nan", counts.nan}, {"inf", counts.plus_inf}, {"-inf", counts.minus_inf}};
}

Json index_of(const Shape& shape, std::int64_t linear) {
  return linear < 0 ? Json(nullptr) : Json(unravel(shape, linear));
}

Json metrics_of(const TensorResult& tensor) {
  const Metrics& m = tensor.metrics;
  Json object = {{"count", m.count},
                 {"rel", number(m.rel())},
                 {"max_abs", number(m.max_abs)},
                 {"max_abs_index", index_of(tensor.shape, m.max_abs_index)},
                 {"max_rel", number(m.max_rel)},
                 {"max_rel_index", index_of(tensor.shape, m.max_rel_index)},
                 {"rmse", number(m.rmse())},
                 {"cosine", number(m.cosine())},
                 {"norm_ratio", number(m.norm_ratio())},
                 {"unequal_bits", m.unequal_bits},
                 {"unequal_values", m.unequal_values},
                 {"beyond_close", m.beyond_close},
                 {"non_finite_reference", counts_of(m.reference)},
                 {"non_finite_candidate", counts_of(m.candidate)},
                 {"non_finite_disagree", m.non_finite_disagree},
                 {"non_finite_index", index_of(tensor.shape, m.non_finite_index)}};
  if (!tensor.detail) return object;
  const Detail& detail = *tensor.detail;
  object["row_error"] = number(detail.row_error);
  object["row"] = detail.row < 0 ? Json(nullptr) : Json(detail.row);
  object["outlier"] = number(detail.outlier);
  object["outlier_index"] = index_of(tensor.shape, detail.outlier_index);
  object["column"] = detail.column < 0 ? Json(nullptr) : Json(detail.column);
  Json quantiles = Json::array();
  for (const auto& [quantile, distance] : detail.ulp_quantiles) {
    quantiles.push_back({{"quantile", number(quantile)}, {"ulp", distance}});
  }
  object["ulp_quantiles"] = quantiles;
  return object;
}

Json ranks_of(const std::vector<RankError>& ranks) {
  Json list = Json::array();
  for (const RankError& one : ranks) {
    list.push_back({{"rank", one.rank},
                    {"rel", number(one.metrics.rel())},
                    {"max_abs", number(one.metrics.max_abs)},
                    {"unequal_values", one.metrics.unequal_values},
                    {"non_finite_disagree", one.metrics.non_finite_disagree}});
  }
  return list;
}

}  // namespace

Json json_of(const TensorResult& tensor) {
  const bool trace = tensor.identity.phase != Phase::none;
  return {{"name", text(tensor.identity.name)},
          {"kind", std::string(name(tensor.kind))},
          {"verdict", std::string(name(tensor.outcome))},
          {"shape", tensor.shape},
          {"dtype", std::string(name(tensor.dtype))},
          {"candidate_dtype", std::string(name(tensor.candidate_dtype))},
          {"cast", text_or_null(tensor.cast)},
          {"metrics", metrics_of(tensor)},
          {"limit", number(tensor.limit.rel)},
          {"limit_source", text_or_null(tensor.limit.source)},
          {"error", number(tensor.error)},
          {"ratio", number(tensor.ratio)},
          {"test", text_or_null(tensor.test)},
          {"step", value_or_null(tensor.step)},
          {"phase", trace ? Json(std::string(name(tensor.identity.phase))) : Json(nullptr)},
          {"microbatch", trace ? Json(tensor.identity.microbatch) : Json(nullptr)},
          {"candidate_name", text_or_null(tensor.candidate_name)},
          {"rule", text_or_null(tensor.rule)},
          {"wrong_ranks", tensor.wrong_ranks},
          {"ranks", ranks_of(tensor.ranks)}};
}

}  // namespace ttcheck::reports
