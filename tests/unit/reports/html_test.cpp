// SPDX-License-Identifier: Apache-2.0
#include "reports/html.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace ttcheck::reports {
namespace {

Verdict diverged() {
  Verdict verdict;
  verdict.command = "diff";
  verdict.argv = {"diff", "a b", "c"};
  verdict.outcome = Outcome::diverged;
  verdict.reference = RunSummary{"a b", "hf", {}, {}, 8, 64};
  verdict.candidate = RunSummary{"c<", "hf", {}, {}, 8, 64};
  verdict.candidate->mesh.axes = {{"tp", 2}};
  verdict.first.emplace();
  verdict.first->tensor = "layers.1.up";
  verdict.first->ranks = {1};
  for (const char* name : {"layers.0.up", "layers.0.down", "layers.1.up", "layers.1.down"}) {
    TensorResult& one = verdict.tensors.emplace_back();
    one.identity.name = name;
    one.by_limit = std::string(name) < "layers.1" ? Outcome::noise : Outcome::diverged;
    one.limit.kind = LimitKind::model;
    one.test = Test::rel;
    one.error = one.allowed = one.ratio = 0.5;
    if (one.by_limit == Outcome::diverged) one.ratio = 1e4, one.wrong_ranks = {1};
  }
  verdict.tally.outcomes = {4, 2, 2, 0};
  verdict.coverage.paired = 8;
  Finding& finding = verdict.findings.emplace_back();
  finding.code = Code::scale;
  finding.tensor = "layers.1.up";
  finding.message = "it is <2 x>";
  return verdict;
}

bool has(const std::string& page, std::string_view words) {
  return page.find(words) != std::string::npos;
}

TEST_CASE("a page tells the story, has its pictures, and says how to get it again") {
  const std::string page = write_html(diverged(), {});
  CHECK(has(page, "<h1>DIVERGED</h1>"));
  CHECK(has(page, "<b>c&#60;</b>"));
  for (const char* const part : {"curve", "layers", "mesh", "results", "findings", "coverage"}) {
    CHECK(has(page, "<h2 id=\"" + std::string(part) + "\">"));
  }
  CHECK(!has(page, "<h2 id=\"tensor\">"));  // nothing was seen of it
  CHECK(!has(page, "<h2 id=\"facts\">"));
  CHECK(!has(page, "<h2 id=\"steps\">"));
  CHECK(has(page,
            "4 tensors in the order in which a difference comes about, error over limit by "
            "decades; 2 are beyond the limit, the first of them layers.1.up."));
  CHECK(has(page, "2 ranks (tp=2); 1 is wrong in some tensor; the first difference is on 1."));
  CHECK(has(page, "layers.1, up: 1e+04 of its limit"));
  CHECK(has(page, "it is &#60;2 x&#62;"));
  CHECK(has(page, "<b>How to fix.</b>"));
  CHECK(has(page, "<code>ttcheck diff &#39;a b&#39; c</code>"));
}

TEST_CASE("where inside the tensor, settings that differ, and steps, where they are known") {
  Verdict verdict = diverged();
  Profile profile;
  profile.pair = true;
  profile.all = {4, 1, 0, 0, 4, 1, 1};
  AxisProfile& rows = profile.axes.emplace_back();
  rows.name = "row";
  rows.extent = 2;
  rows.bins = {{2, 0, 0, 0, 2, 0, 0}, {2, 1, 0, 0, 2, 1, 1}};
  profile.blocks = BlockProfile{2, 2, 1, 2, 2, 1, rows.bins};
  profile.confined = Confinement{0, 1, 1, 1};
  verdict.profile = std::make_shared<const Profile>(profile);
  verdict.facts.push_back({"lr", FactValue{0.5}, FactValue{0.25}, "differs"});
  verdict.tally.steps = {1, 2};
  for (TensorResult& one : verdict.tensors) one.step = 1;
  for (int i = 0; i < 4; ++i) {
    verdict.tensors.push_back(verdict.tensors[static_cast<std::size_t>(i)]);
    verdict.tensors.back().step = 2;
  }
  verdict.first->step = 1;
  const std::string page = write_html(verdict, {});
  CHECK(has(page, "100% of it is within row 1."));
  CHECK(has(page, "<tr><td>lr</td><td>0.5</td><td>0.25</td><td></td></tr>"));
  CHECK(has(page, "<h2 id=\"steps\">"));
  CHECK(has(page, "layers.1, step 2: 1e+04 of its limit"));
}

TEST_CASE("a difference that is all over its tensor is said to be within nothing") {
  Verdict verdict = diverged();
  Profile profile;
  profile.pair = true;
  AxisProfile& rows = profile.axes.emplace_back();
  rows.name = "row";
  rows.extent = 2;
  rows.bins = {{2, 1, 0, 0, 2, 1, 1}, {2, 1, 0, 0, 2, 1, 1}};
  verdict.profile = std::make_shared<const Profile>(profile);
  const std::string page = write_html(verdict, {});
  CHECK(has(page, "the darker, the larger the error beside what is usual there."));
  CHECK(!has(page, "of it is within"));
}

TEST_CASE("what has no verdict is its screen") {
  Verdict verdict;
  verdict.command = "info";
  verdict.reference = RunSummary{"a<b", "hf", {}, {}, 8, 64};
  const std::string page = write_html(verdict, {});
  CHECK(has(page, "<h1>ttcheck info</h1>\n<pre>"));
  CHECK(has(page, "a&#60;b"));
  CHECK(!has(page, "a<b"));
}

}  // namespace
}  // namespace ttcheck::reports
