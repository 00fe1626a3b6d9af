// SPDX-License-Identifier: Apache-2.0
// The head is checked first: a report of another schema, or of a command that judges no two runs,
// is refused before anything else is looked at. Then each member of the report becomes a field of
// the Verdict, one function for each kind of object. A member that is missing or of another type
// is an Error at its place, so that no answer comes back with a part silently gone; only what a
// report may lack, as `known` and `bisect`, may be missing. Two things are not where a Verdict
// has them, and join() finds them by step, phase, name and micro-batch: the call of the first
// difference in its row, and the places of a row's worst element in the finding about it. The text
// may be up to 1 GiB long; time and memory grow with it.

#include "formats/own/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/for_reason.hpp"
#include "core/base/utf8.hpp"
#include "formats/bytes/read_text.hpp"
#include "formats/own/answer_fields.hpp"
#include "formats/own/answer_rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes of a report
constexpr std::array<std::string_view, 3> kJudging = {"diff", "bisect", "manifest"};

std::optional<RunSummary> run_of(const Json& value) {
  if (value.is(Json::Kind::null)) return std::nullopt;
  const AnswerFields fields(value, "a run");
  RunSummary run;
  run.path = fields.text("path");
  run.format = fields.text("format");
  for (const auto& [axis, size] : fields.counts("mesh")) run.mesh.axes.push_back({axis, size});
  run.steps = fields.integers("steps");
  run.tensors = fields.count("tensors");
  run.bytes = fields.natural("bytes");
  return run;
}

std::optional<Relation> relation_of(const Json& value) {
  if (value.is(Json::Kind::null)) return std::nullopt;
  const AnswerFields fields(value, "the relation");
  Relation relation;
  relation.kind = static_cast<RelationKind>(fields.word("name", kRelations));
  relation.evidence = fields.text("evidence");
  relation.base = fields.text("base");
  return relation;
}

Coverage coverage_of(const Json& value) {
  const AnswerFields fields(value, "coverage");
  Coverage coverage;
  coverage.paired = fields.count("paired");
  coverage.weights = fields.count("weights");
  coverage.only_reference = fields.count("only_reference");
  coverage.only_candidate = fields.count("only_candidate");
  coverage.excluded = fields.count("excluded");
  for (const JsonMember& member : fields.at("excluded_by").members()) {
    coverage.excluded_by.emplace_back(bytes_of_utf8(member.first), member.second.integer());
  }
  for (const Json& item : fields.at("beside").items()) {
    const AnswerFields one(item, "what is beside");
    coverage.beside.push_back({one.text("rule"), one.count("reference"), one.count("candidate")});
  }
  coverage.unreadable = fields.count("unreadable");
  coverage.steps_only_reference = fields.integers("steps_only_reference");
  coverage.steps_only_candidate = fields.integers("steps_only_candidate");
  coverage.bytes_compared = fields.natural("bytes_compared");
  coverage.bytes_read = fields.natural("bytes_read");
  coverage.bytes_unclaimed = fields.natural("bytes_unclaimed");
  return coverage;
}

Tally tally_of(const Json& value) {
  const AnswerFields fields(value, "the tally");
  const AnswerFields verdicts(fields.at("verdicts"), "the tally's verdicts");
  Tally tally;
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    tally.outcomes[i] = verdicts.count(kOutcomes[i]);
  }
  tally.borderline = fields.count("borderline");
  tally.with_nan = fields.count("with_nan");
  for (const std::int64_t step : fields.integers("steps")) tally.steps.insert(step);
  tally.casts = fields.counts("casts");
  tally.limits = fields.counts("limits");
  tally.rules = fields.counts("rules");
  return tally;
}

std::optional<Divergence> first_of(const Json& value) {
  if (value.is(Json::Kind::null)) return std::nullopt;
  const AnswerFields fields(value, "the first difference");
  Divergence first;
  first.step = fields.maybe_integer("step");
  first.microbatch = fields.maybe_integer("microbatch");
  first.phase = fields.phase("phase");
  first.op = fields.text("op");
  first.tensor = fields.text("tensor");
  first.ranks = fields.ranks("ranks");
  first.axes = answer_axes(fields.at("axes"));
  if (fields.given("index")) first.index = fields.extents("index");
  if (fields.given("introduced")) first.introduced = fields.boolean("introduced");
  if (const auto before = fields.given("before")) {
    const AnswerFields right(*before, "what is before it");
    const AnswerFields last(right.at("last"), "the last before it");
    first.before = Before{right.count("equal"),
                          right.count("noise"),
                          {last.text("tensor"), last.phase("phase"), 0, 0}};
  }
  return first;
}

ErrorRoot root_of(const Json& row) {
  const AnswerFields fields(row, "a root");
  return {fields.maybe_integer("step"),
          {fields.text("tensor"), fields.phase("phase"), fields.small("microbatch"),
           fields.small("call")},
          fields.count("inherited")};
}

Search search_of(const Json& value) {
  const AnswerFields fields(value, "bisect");
  Search search;
  search.axis = fields.text("axis");
  if (search.axis == "ops") {
    search.first_bad_op = fields.text("first_bad");
    search.last_good_op = fields.text("last_good");
  } else {
    search.first_bad_step = fields.maybe_integer("first_bad");
    search.last_good_step = fields.maybe_integer("last_good");
  }
  search.examined = fields.count("examined");
  search.total = fields.count("total");
  search.bytes_read = fields.natural("bytes_read");
  search.bytes_total = fields.natural("bytes_total");
  search.log = fields.texts("log");
  return search;
}

/// Refuses what is no answer about two runs.
void check_head(const Json& root) {
  const auto head = root.find("ttcheck");
  if (!head) root.fail("no report of ttcheck");
  const AnswerFields fields(*head, "the head");
  if (fields.integer("schema") != kSchema) {
    fields.at("schema").fail(
        fmt::format("schema {} where {} is known: the report has to be made "
                    "anew",
                    fields.integer("schema"), kSchema));
  }
  const auto command = root.find("command");
  const auto verdict = root.find("verdict");
  const bool known = command && command->is(Json::Kind::string) && verdict &&
                     std::ranges::find(kJudging, command->string()) != kJudging.end();
  if (!known) root.fail("no answer of diff, bisect or manifest --verify");
}

/// What JSON has in one place alone, and rows are joined by names: the call of the first
/// difference, and where the worst element of a row is stored.
void join(Verdict& verdict) {
  using Record = std::pair<std::optional<std::int64_t>, Identity>;
  std::map<Record, const Finding*> findings;
  for (const Finding& one : verdict.findings) {
    if (!one.where && !one.reference_where) continue;
    findings.try_emplace({one.step, {one.tensor, one.phase, one.microbatch, one.call}}, &one);
  }
  for (TensorResult& one : verdict.tensors) {
    const auto finding = findings.find({one.step, one.identity});
    if (one.outcome() != Outcome::diverged || finding == findings.end()) continue;
    one.places = std::make_shared<const Places>(
        Places{finding->second->reference_where, finding->second->where});
  }
  if (!verdict.first) return;
  Divergence& first = *verdict.first;
  const auto row = std::ranges::find_if(verdict.tensors, [&](const TensorResult& one) {
    return one.step == first.step && one.identity.phase == first.phase &&
           one.identity.name == first.tensor &&
           one.identity.microbatch == first.microbatch.value_or(one.identity.microbatch) &&
           one.outcome() == Outcome::diverged;
  });
  if (row != verdict.tensors.end()) first.call = row->identity.call;
}

}  // namespace

Verdict parse_answer(const std::string& text, const std::string& path) {
  const JsonDocument document(text, path);
  const Json root = document.root();
  check_head(root);
  const AnswerFields fields(root, "the report");
  Verdict verdict;
  verdict.command = fields.text("command");
  verdict.argv = AnswerFields(fields.at("ttcheck"), "the head").texts("argv");
  verdict.outcome = static_cast<Outcome>(fields.word("verdict", kOutcomes));
  verdict.complete = fields.boolean("complete");
  verdict.exit = static_cast<int>(fields.small("exit"));
  verdict.reason = fields.text("reason");
  verdict.relation = relation_of(fields.at("relation"));
  verdict.reference = run_of(fields.at("reference"));
  verdict.candidate = run_of(fields.at("candidate"));
  verdict.coverage = coverage_of(fields.at("coverage"));
  verdict.tally = tally_of(fields.at("tally"));
  verdict.first = first_of(fields.at("first"));
  for (const Json& row : fields.at("roots").items()) verdict.roots.push_back(root_of(row));
  for (const Json& row : fields.at("findings").items()) {
    verdict.findings.push_back(answer_finding(row));
  }
  for (const Json& row : fields.at("tensors").items()) {
    verdict.tensors.push_back(answer_tensor(row));
  }
  for (const Json& row : fields.at("facts").items()) verdict.facts.push_back(answer_fact(row));
  if (const auto known = fields.given("known")) {
    for (const Json& row : known->items()) {
      const AnswerFields one(row, "a known difference");
      verdict.known.push_back(
          {one.count("count"), one.text("reason"), one.text("date"), one.text("first")});
    }
  }
  if (const auto bisect = fields.given("bisect")) verdict.search = search_of(*bisect);
  join(verdict);
  return verdict;
}

Verdict read_answer(const std::string& path) {
  return for_reason("bad-report", [&] { return parse_answer(read_text(path, kLargest), path); });
}

}  // namespace ttcheck::formats
