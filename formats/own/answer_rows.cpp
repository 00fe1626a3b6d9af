// SPDX-License-Identifier: Apache-2.0
// A report tells the norms of a comparison, and Metrics holds the sums that they are made of, so
// these are worked out backwards: of the differences from rmse and count, of the reference from
// that and rel, of the candidate from norm_ratio. Of a rank's norms only rel is told, so its
// reference gets the norm 1. Indices were written by dimension; they become linear again and must
// lie inside the shape. A finding's message ends with its reason and what is said aside, of which
// Finding holds the places: they are searched for from the message's end, as the same words may
// stand before. What follows the first line break is what the user may paste. A record of a trace
// gets an empty TraceRecord, as the report keeps no more of it. Words for NaN and infinity are
// numbers; an unknown word, code or dtype is an Error at its place.

#include "formats/own/answer_rows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/utf8.hpp"
#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/kind.hpp"
#include "formats/own/answer_fields.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 3> kSeverities = {"note", "warning", "error"};

Parameter parameter_of(const Json& value) {
  if (value.is(Json::Kind::integer)) return value.integer();
  if (value.is(Json::Kind::string)) {
    const std::string_view word = value.string();
    if (word == "nan" || word == "inf" || word == "-inf") return answer_number(value);
    return answer_text(value);
  }
  if (!value.is(Json::Kind::array)) return value.number();
  std::vector<std::int64_t> list;
  for (const Json& item : value.items()) list.push_back(item.integer());
  return list;
}

Hypothesis hypothesis_of(const Json& row) {
  const AnswerFields fields(row, "a hypothesis");
  Hypothesis one;
  one.name = fields.text("name");
  for (const JsonMember& member : fields.at("parameters").members()) {
    one.parameters.emplace_back(bytes_of_utf8(member.first), parameter_of(member.second));
  }
  one.residual = fields.number("residual");
  one.weight = fields.number("weight");
  return one;
}

/// Where `part` begins in the message, with what joins it to the one before; its end where it is no
/// part of it.
std::size_t place_of(const std::string& message, const std::string& part) {
  const std::size_t at = part.empty() ? std::string::npos : message.rfind(part);
  if (at == std::string::npos) return message.size();
  return std::string_view(message).substr(0, at).ends_with("; ") ? at - 2 : at;
}

/// The linear index of what unravel gave; -1 for null.
std::int64_t index_in(const AnswerFields& fields, std::string_view key, const Shape& shape) {
  const auto value = fields.given(key);
  if (!value) return -1;
  const Extents index = fields.extents(key);
  const auto inside = [](std::int64_t at, std::int64_t extent) { return at >= 0 && at < extent; };
  if (!std::ranges::equal(index, shape, inside)) value->fail("an index outside the shape");
  return linear_index(shape, index);
}

NonFinite non_finite_of(const AnswerFields& fields, std::string_view key) {
  const AnswerFields counts(fields.at(key), key);
  return {counts.count("nan"), counts.count("inf"), counts.count("-inf")};
}

/// Sums that have the norms which the answer tells.
Metrics metrics_of(const AnswerFields& fields, const Shape& shape) {
  Metrics metrics;
  metrics.count = fields.count("count");
  metrics.max_abs = fields.number("max_abs");
  metrics.max_abs_index = index_in(fields, "max_abs_index", shape);
  metrics.max_rel = fields.number("max_rel");
  metrics.max_rel_index = index_in(fields, "max_rel_index", shape);
  metrics.max_quotient = fields.number("max_quotient");
  metrics.max_quotient_index = index_in(fields, "max_quotient_index", shape);
  const double rel = fields.number("rel"), rmse = fields.number("rmse");
  metrics.sum_d2 = rmse * rmse * static_cast<double>(metrics.count);
  metrics.sum_a2 = rel > 0 && std::isfinite(rel) ? metrics.sum_d2 / (rel * rel) : 0;
  if (rel == 0) metrics.sum_a2 = 1;
  const double ratio = fields.number("norm_ratio");
  metrics.sum_b2 = std::isfinite(ratio) ? ratio * ratio * metrics.sum_a2 : metrics.sum_d2;
  metrics.unequal_bits = fields.count("unequal_bits");
  metrics.unequal_values = fields.count("unequal_values");
  metrics.beyond_close = fields.count("beyond_close");
  metrics.reference = non_finite_of(fields, "non_finite_reference");
  metrics.candidate = non_finite_of(fields, "non_finite_candidate");
  metrics.non_finite_disagree = fields.count("non_finite_disagree");
  metrics.non_finite_index = index_in(fields, "non_finite_index", shape);
  metrics.taken_out = fields.count("taken_out");
  return metrics;
}

std::optional<Detail> detail_of(const AnswerFields& fields, const Shape& shape) {
  if (!fields.given("row_error")) return std::nullopt;
  Detail detail;
  detail.row_error = fields.number("row_error");
  detail.row = fields.maybe_integer("row").value_or(-1);
  detail.outlier = fields.number("outlier");
  detail.outlier_index = index_in(fields, "outlier_index", shape);
  detail.column = fields.maybe_integer("column").value_or(-1);
  for (const Json& item : fields.at("ulp_quantiles").items()) {
    const AnswerFields one(item, "a quantile");
    detail.ulp_quantiles.emplace_back(one.number("quantile"), one.natural("ulp"));
  }
  return detail;
}

RankError rank_of(const Json& row) {
  const AnswerFields fields(row, "a rank");
  RankError one;
  one.rank = fields.small("rank");
  const double rel = fields.number("rel");
  one.metrics.sum_a2 = std::isfinite(rel) ? 1 : 0;
  one.metrics.sum_d2 = std::isfinite(rel) ? rel * rel : 1;
  one.metrics.max_abs = fields.number("max_abs");
  one.metrics.unequal_values = fields.count("unequal_values");
  one.metrics.non_finite_disagree = fields.count("non_finite_disagree");
  return one;
}

DType dtype_of(const AnswerFields& fields, std::string_view key) {
  const auto dtype = dtype_named(fields.text(key));
  if (!dtype) fields.at(key).fail("an unknown dtype");
  return *dtype;
}

Shape shape_of(const AnswerFields& fields) {
  Shape shape = fields.extents("shape");
  try {
    element_count(shape);
  } catch (const Error& error) {
    fields.at("shape").fail(error.message());
  }
  return shape;
}

std::optional<FactValue> fact_value(const std::optional<Json>& value) {
  if (!value) return std::nullopt;
  if (value->is(Json::Kind::boolean)) return value->boolean();
  if (value->is(Json::Kind::integer)) return value->integer();
  if (value->is(Json::Kind::real)) return value->number();
  return answer_text(*value);
}

}  // namespace

std::optional<Where> answer_where(const Json& value) {
  if (value.is(Json::Kind::null)) return std::nullopt;
  const AnswerFields fields(value, "a place");
  Where where{.file = fields.text("file")};
  if (fields.given("offset")) where.offset = fields.natural("offset");
  return where;
}

AxisCoordinates answer_axes(const Json& value) {
  AxisCoordinates axes;
  for (const JsonMember& member : value.members()) {
    std::vector<std::int64_t> at;
    for (const Json& item : member.second.items()) at.push_back(item.integer());
    axes.emplace_back(bytes_of_utf8(member.first), std::move(at));
  }
  return axes;
}

Finding answer_finding(const Json& row) {
  const AnswerFields fields(row, "a finding");
  Finding one;
  const auto code = code_named(fields.text("code"));
  if (!code) fields.at("code").fail("an unknown code");
  one.code = *code;
  one.severity = static_cast<Severity>(fields.word("severity", kSeverities));
  one.step = fields.maybe_integer("step");
  one.phase = fields.phase("phase");
  one.op = fields.text("op");
  one.tensor = fields.text("tensor");
  one.microbatch = fields.small("microbatch");
  one.call = fields.small("call");
  one.ranks = fields.ranks("ranks");
  one.axes = answer_axes(fields.at("axes"));
  one.where = answer_where(fields.at("where"));
  one.reference_where = answer_where(fields.at("reference_where"));
  one.candidate_tensor = fields.text("candidate_tensor");
  if (fields.given("index")) one.index = fields.extents("index");
  one.error = fields.maybe_number("error");
  one.limit = fields.maybe_number("limit");
  one.limit_source = fields.text("limit_source");
  one.ratio = fields.maybe_number("ratio");
  one.message = fields.text("message");
  const std::size_t line = one.message.find('\n');
  if (line != std::string::npos) {
    one.paste = one.message.substr(line + 1);
    one.message.resize(line);
  }
  const std::string why = fields.text("why"), aside = fields.text("aside");
  if (!aside.empty()) one.aside = place_of(one.message, aside);
  if (!why.empty()) one.why = place_of(one.message.substr(0, one.aside), why);
  for (const Json& item : fields.at("hypotheses").items()) {
    one.hypotheses.push_back(hypothesis_of(item));
  }
  one.next = fields.texts("next");
  return one;
}

TensorResult answer_tensor(const Json& row) {
  const AnswerFields fields(row, "a tensor");
  TensorResult one;
  one.identity.name = fields.text("name");
  one.identity.phase = fields.phase("phase");
  if (fields.given("microbatch")) one.identity.microbatch = fields.small("microbatch");
  if (fields.given("call")) one.identity.call = fields.small("call");
  const auto kind = std::ranges::find(kKinds, fields.text("kind"), &KindInfo::name);
  if (kind == kKinds.end()) fields.at("kind").fail("an unknown kind");
  one.kind = kind->kind;
  one.by_limit = static_cast<Outcome>(fields.word("verdict", kOutcomes));
  one.step = fields.maybe_integer("step");
  one.shape = shape_of(fields);
  one.dtype = dtype_of(fields, "dtype");
  one.candidate_dtype = dtype_of(fields, "candidate_dtype");
  one.cast = fields.text("cast");
  const AnswerFields metrics(fields.at("metrics"), "metrics");
  one.metrics = metrics_of(metrics, one.shape);
  one.detail = detail_of(metrics, one.shape);
  one.error = fields.number("error");
  one.ratio = fields.number("ratio");
  one.test = static_cast<Test>(fields.word("test", kTests));
  one.limit.kind = static_cast<LimitKind>(fields.word("limit_kind", kLimitKinds));
  one.limit.source = fields.text("limit_source");
  one.limit.rel = fields.number("limit_rel");
  one.allowed = fields.number("limit");
  if (const auto allowance = fields.given("allowance")) {
    const AnswerFields rule(*allowance, "an allowance");
    one.allowance = Allowance{rule.text("rule"), rule.number("amount")};
  }
  one.candidate_name = fields.text("candidate_name");
  one.rule = fields.text("rule");
  one.wrong_ranks = fields.ranks("wrong_ranks");
  if (const auto worst = fields.given("worst")) {
    const AnswerFields sides(*worst, "the worst element");
    one.values = {sides.number("reference"), sides.number("candidate")};
  }
  for (const Json& item : fields.at("ranks").items()) one.ranks.push_back(rank_of(item));
  if (one.identity.phase != Phase::none) one.trace = std::make_shared<const TraceRecord>();
  return one;
}

FactResult answer_fact(const Json& row) {
  const AnswerFields fields(row, "a fact");
  FactResult one;
  one.name = fields.text("name");
  one.reference = fact_value(fields.given("reference"));
  one.candidate = fact_value(fields.given("candidate"));
  one.verdict = fields.text("verdict");
  one.step = fields.maybe_integer("step");
  return one;
}

}  // namespace ttcheck::formats
