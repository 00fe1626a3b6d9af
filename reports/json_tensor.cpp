// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "core/model/box.hpp"
#include "core/model/metric_rows.hpp"
#include "reports/json_parts.hpp"

namespace ttcheck::reports {
namespace {

OrderedJson index_of(const Shape& shape, std::int64_t linear) {
  return linear < 0 ? OrderedJson(nullptr) : OrderedJson(unravel(shape, linear));
}

OrderedJson json_of(std::int64_t count, const Shape&) { return count; }
OrderedJson json_of(double value, const Shape&) { return number(value); }
OrderedJson json_of(LinearIndex index, const Shape& shape) { return index_of(shape, index.at); }
OrderedJson json_of(const NonFinite& counts, const Shape&) {
  return {{"nan", counts.nan}, {"inf", counts.plus_inf}, {"-inf", counts.minus_inf}};
}

OrderedJson json_of(SliceNumber slice, const Shape&) {
  return slice.at < 0 ? OrderedJson(nullptr) : OrderedJson(slice.at);
}
OrderedJson json_of(const Quantiles& quantiles, const Shape&) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [quantile, distance] : quantiles) {
    list.push_back({{"quantile", number(quantile)}, {"ulp", distance}});
  }
  return list;
}

OrderedJson metrics_of(const TensorResult& tensor) {
  OrderedJson object = OrderedJson::object();
  const auto add = [&](const auto& rows, const auto& of) {
    for (const auto& row : rows) {
      object[std::string(row.name)] = std::visit(
          [&](const auto& value) { return json_of(value, tensor.shape); }, row.value(of));
    }
  };
  add(metric_rows(), tensor.metrics);
  if (tensor.detail) add(detail_rows(), *tensor.detail);
  return object;
}

OrderedJson ranks_of(const std::vector<RankError>& ranks) {
  OrderedJson list = OrderedJson::array();
  for (const RankError& one : ranks) {
    list.push_back({{"rank", one.rank},
                    {"rel", number(one.metrics.rel())},
                    {"max_abs", number(one.metrics.max_abs)},
                    {"unequal_values", one.metrics.unequal_values},
                    {"non_finite_disagree", one.metrics.non_finite_disagree}});
  }
  return list;
}

OrderedJson allowance_of(const TensorResult& tensor) {
  if (!tensor.allowance) return nullptr;
  return {{"rule", text(tensor.allowance->rule)}, {"amount", number(tensor.allowance->amount)}};
}

OrderedJson values_of(const TensorResult& tensor) {
  if (!tensor.values) return nullptr;
  return {{"reference", number(tensor.values->front())},
          {"candidate", number(tensor.values->back())}};
}

}  // namespace

OrderedJson json_of(const TensorResult& tensor) {
  const bool trace = tensor.identity.phase != Phase::none;
  return {{"name", text(tensor.identity.name)},
          {"kind", std::string(name(tensor.kind))},
          {"verdict", std::string(name(tensor.outcome()))},
          {"borderline", tensor.is_borderline()},
          {"shape", tensor.shape},
          {"dtype", std::string(name(tensor.dtype))},
          {"candidate_dtype", std::string(name(tensor.candidate_dtype))},
          {"cast", text_or_null(tensor.cast)},
          {"metrics", metrics_of(tensor)},
          {"limit", number(tensor.limit_shown())},
          {"limit_source", text_or_null(tensor.limit.source)},
          {"limit_rel", number(tensor.limit.rel)},
          {"limit_kind", std::string(name(tensor.limit.kind))},
          {"allowance", allowance_of(tensor)},
          {"error", number(tensor.error)},
          {"ratio", number(tensor.ratio)},
          {"test", text_or_null(std::string(name(tensor.test)))},
          {"step", value_or_null(tensor.step)},
          {"phase",
           trace ? OrderedJson(std::string(name(tensor.identity.phase))) : OrderedJson(nullptr)},
          {"microbatch", trace ? OrderedJson(tensor.identity.microbatch) : OrderedJson(nullptr)},
          {"call", trace ? OrderedJson(tensor.identity.call) : OrderedJson(nullptr)},
          {"candidate_name", text_or_null(tensor.candidate_name)},
          {"rule", text_or_null(tensor.rule)},
          {"wrong_ranks", tensor.wrong_ranks},
          {"worst", values_of(tensor)},
          {"ranks", ranks_of(tensor.ranks)}};
}

}  // namespace ttcheck::reports
