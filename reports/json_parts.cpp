// SPDX-License-Identifier: Apache-2.0
#include "reports/json_parts.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/utf8.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

OrderedJson phase_of(Phase phase) {
  return phase == Phase::none ? OrderedJson(nullptr) : OrderedJson(std::string(name(phase)));
}

OrderedJson axes_of(const AxisCoordinates& axes) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [axis, coordinates] : axes) object[as_utf8(axis)] = coordinates;
  return object;
}

OrderedJson mesh_of(const Mesh& mesh) {
  OrderedJson object = OrderedJson::object();
  for (const auto* axes : {&mesh.axes, &mesh.expert_axes}) {
    for (const Axis& axis : *axes) {
      if (axis.size > 1) object.emplace(as_utf8(axis.name), axis.size);
    }
  }
  return object;
}

/// A held number, text, truth or list as JSON.
struct HeldAsJson {
  template <class Held>
  OrderedJson operator()(const Held& held) const {
    if constexpr (std::is_same_v<Held, double>) return number(held);
    if constexpr (std::is_same_v<Held, std::string>) {
      return text(held);
    } else {
      return held;
    }
  }
};

OrderedJson hypothesis_of(const Hypothesis& hypothesis) {
  OrderedJson parameters = OrderedJson::object();
  for (const auto& [key, parameter] : hypothesis.parameters) {
    parameters[as_utf8(key)] = std::visit(HeldAsJson{}, parameter);
  }
  return {{"name", text(hypothesis.name)},
          {"parameters", parameters},
          {"residual", number(hypothesis.residual)},
          {"weight", number(hypothesis.weight)}};
}

/// A tensor may be nameless (a file that is one bare array): then its finding has a measure.
OrderedJson tensor_of(const Finding& finding) {
  const bool measured = finding.index || finding.error || finding.limit;
  return finding.tensor.empty() && !measured ? OrderedJson(nullptr) : text(finding.tensor);
}

OrderedJson fact_value(const std::optional<FactValue>& value) {
  if (!value) return nullptr;
  return std::visit(HeldAsJson{}, *value);
}

/// A part of a sentence without what joins it to the one before; null where it is empty.
OrderedJson clause(const std::string& part) {
  return text_or_null(part.starts_with("; ") ? part.substr(2) : part);
}

OrderedJson number_or_null(const std::optional<double>& value) {
  return value ? number(*value) : OrderedJson(nullptr);
}

}  // namespace

OrderedJson where_of(const std::optional<Where>& where) {
  if (!where) return nullptr;
  return {{"file", text_or_null(where->file)}, {"offset", value_or_null(where->offset)}};
}

OrderedJson number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

OrderedJson text(const std::string& value) { return as_utf8(value); }
OrderedJson text_or_null(const std::string& value) {
  return value.empty() ? OrderedJson(nullptr) : text(value);
}

OrderedJson json_of(const std::optional<RunSummary>& run) {
  if (!run) return nullptr;
  return {{"path", text(run->path)},    {"format", text_or_null(run->format)},
          {"mesh", mesh_of(run->mesh)}, {"steps", run->steps},
          {"tensors", run->tensors},    {"bytes", run->bytes}};
}

OrderedJson json_of(const std::optional<Relation>& relation) {
  if (!relation || relation->kind == RelationKind::undecided) return nullptr;
  OrderedJson object = OrderedJson::object();
  object["name"] = std::string(name(relation->kind));
  object["evidence"] = relation->evidence;
  object["base"] = text_or_null(relation->base);
  return object;
}

OrderedJson json_of(const Coverage& coverage) {
  OrderedJson rules = OrderedJson::object(), beside = OrderedJson::array();
  for (const auto& [rule, count] : coverage.excluded_by) rules[as_utf8(rule)] = count;
  for (const OneSided& one : coverage.beside) {
    beside.push_back(
        {{"rule", text(one.rule)}, {"reference", one.reference}, {"candidate", one.candidate}});
  }
  return {{"paired", coverage.paired},
          {"weights", coverage.weights},
          {"only_reference", coverage.only_reference},
          {"only_candidate", coverage.only_candidate},
          {"excluded", coverage.excluded},
          {"excluded_by", rules},
          {"beside", beside},
          {"unreadable", coverage.unreadable},
          {"steps_only_reference", coverage.steps_only_reference},
          {"steps_only_candidate", coverage.steps_only_candidate},
          {"bytes_compared", coverage.bytes_compared},
          {"bytes_read", coverage.bytes_read},
          {"bytes_unclaimed", coverage.bytes_unclaimed}};
}

OrderedJson json_of(const Tally& tally) {
  const auto counts = [](const std::map<std::string, std::int64_t>& by) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [words, count] : by) object[as_utf8(words)] = count;
    return object;
  };
  OrderedJson verdicts = OrderedJson::object();
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    verdicts[std::string(kOutcomes[i])] = tally.outcomes[i];
  }
  return {{"verdicts", verdicts},
          {"borderline", tally.borderline},
          {"with_nan", tally.with_nan},
          {"steps", std::vector<std::int64_t>(tally.steps.begin(), tally.steps.end())},
          {"casts", counts(tally.casts)},
          {"limits", counts(tally.limits)},
          {"rules", counts(tally.rules)}};
}

OrderedJson json_of(const ErrorRoot& root) {
  return {{"step", value_or_null(root.step)},   {"phase", phase_of(root.identity.phase)},
          {"tensor", text(root.identity.name)}, {"microbatch", root.identity.microbatch},
          {"call", root.identity.call},         {"inherited", root.inherited}};
}

OrderedJson json_of(const std::optional<Before>& before) {
  if (!before) return nullptr;
  return {{"equal", before->equal},
          {"noise", before->noise},
          {"last", {{"phase", phase_of(before->last.phase)}, {"tensor", text(before->last.name)}}}};
}

OrderedJson json_of(const std::optional<Divergence>& first) {
  if (!first) return nullptr;
  return {{"step", value_or_null(first->step)},
          {"microbatch", value_or_null(first->microbatch)},
          {"phase", phase_of(first->phase)},
          {"op", text_or_null(first->op)},
          {"tensor", text(first->tensor)},
          {"ranks", first->ranks},
          {"axes", axes_of(first->axes)},
          {"index", value_or_null(first->index)},
          {"introduced", value_or_null(first->introduced)},
          {"before", json_of(first->before)}};
}

OrderedJson json_of(const Search& search) {
  OrderedJson log = OrderedJson::array();
  for (const std::string& line : search.log) log.push_back(text(line));
  const bool ops = search.axis == "ops";
  return {
      {"axis", search.axis},
      {"first_bad", ops ? text_or_null(search.first_bad_op) : value_or_null(search.first_bad_step)},
      {"last_good", ops ? text_or_null(search.last_good_op) : value_or_null(search.last_good_step)},
      {"examined", search.examined},
      {"total", search.total},
      {"bytes_read", search.bytes_read},
      {"bytes_total", search.bytes_total},
      {"log", log}};
}

OrderedJson json_of(const Calibration& calibration, bool all) {
  OrderedJson runs = OrderedJson::array(), tensors = OrderedJson::array();
  for (std::size_t i = 0; i < calibration.runs.size(); ++i) {
    runs.push_back({{"path", text(calibration.runs[i])},
                    {"perturbation", text_or_null(calibration.perturbations[i])}});
  }
  for (const CalibratedTensor& one : calibration.tensors) {
    if (!all) break;
    tensors.push_back({{"name", text(one.identity.name)},
                       {"phase", phase_of(one.identity.phase)},
                       {"d", number(one.d)},
                       {"row", number(one.row)},
                       {"outlier", number(one.outlier)},
                       {"samples", one.samples}});
  }
  return {{"runs", runs},           {"comparisons", calibration.comparisons},
          {"m", calibration.m},     {"m0", calibration.m0},
          {"eps", calibration.eps}, {"measured", calibration.tensors.size()},
          {"tensors", tensors},     {"file", text_or_null(calibration.file)}};
}

OrderedJson json_of(const Finding& finding) {
  OrderedJson hypotheses = OrderedJson::array();
  for (const Hypothesis& one : finding.hypotheses) hypotheses.push_back(hypothesis_of(one));
  const std::string message = finding.message + (finding.paste.empty() ? "" : "\n") + finding.paste;
  OrderedJson next = OrderedJson::array();
  for (const std::string& word : finding.next) next.push_back(text(word));
  const std::string& said = finding.message;
  const std::size_t aside = std::min(finding.aside, said.size());
  const std::size_t why = std::min(finding.why, aside);
  return {{"code", to_string(finding.code)},
          {"name", std::string(info(finding.code).name)},
          {"severity", std::string(severity_word(finding.severity))},
          {"step", value_or_null(finding.step)},
          {"phase", phase_of(finding.phase)},
          {"op", text_or_null(finding.op)},
          {"tensor", tensor_of(finding)},
          {"ranks", finding.ranks},
          {"axes", axes_of(finding.axes)},
          {"where", where_of(finding.where)},
          {"reference_where", where_of(finding.reference_where)},
          {"candidate_tensor", text_or_null(finding.candidate_tensor)},
          {"index", value_or_null(finding.index)},
          {"error", number_or_null(finding.error)},
          {"limit", number_or_null(finding.limit)},
          {"limit_source", text_or_null(finding.limit_source)},
          {"ratio", number_or_null(finding.ratio)},
          {"message", text(message)},
          {"hypotheses", hypotheses},
          {"microbatch", finding.microbatch},
          {"call", finding.call},
          {"why", why > 0 ? clause(said.substr(why, aside - why)) : OrderedJson(nullptr)},
          {"aside", clause(said.substr(aside))},
          {"next", next}};
}

OrderedJson json_of(const FactResult& fact) {
  OrderedJson object = {{"name", text(fact.name)},
                        {"reference", fact_value(fact.reference)},
                        {"candidate", fact_value(fact.candidate)},
                        {"verdict", text(fact.verdict)}};
  if (fact.step) object["step"] = *fact.step;
  return object;
}

}  // namespace ttcheck::reports
