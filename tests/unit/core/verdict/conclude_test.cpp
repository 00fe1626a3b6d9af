// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/conclude.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ttcheck::verdict {
namespace {

struct Told {
  Outcome outcome = Outcome::equal;
  LimitKind limit = LimitKind::exact;
};

struct Said {
  Code code = Code::omission;
  Severity severity = Severity::warning;
  bool incomplete = false;
};

/// What a run came to, before it is concluded.
struct Concluded {
  std::vector<Told> tensors = {};
  std::vector<Said> findings = {};
  std::int64_t paired = 1, unreadable = 0;
  std::string precondition = {};

  Verdict concluded() const {
    Verdict verdict;
    for (const Told& told : tensors) {
      TensorResult& result = verdict.tensors.emplace_back();
      result.by_limit = told.outcome;
      result.limit.kind = told.limit;
    }
    for (const Said& said : findings) {
      Finding& finding = verdict.findings.emplace_back();
      finding.code = said.code;
      finding.severity = said.severity;
      finding.incomplete = said.incomplete;
    }
    verdict.coverage.paired = paired;
    verdict.coverage.unreadable = unreadable;
    conclude(verdict, precondition);
    return verdict;
  }
};

constexpr Told kEqual{Outcome::equal, LimitKind::model};
constexpr Told kNoise{Outcome::noise, LimitKind::tolerance};
constexpr Told kModel{Outcome::noise, LimitKind::model};
constexpr Told kMeasured{Outcome::equal, LimitKind::measured};
constexpr Told kDiverged{Outcome::diverged, LimitKind::model};
constexpr Said kMissing{Code::missing, Severity::error};
constexpr Said kOpen{Code::unreadable, Severity::error, true};

TEST_CASE("one outcome for the run") {
  struct Row {
    std::string what;
    Concluded run;
    Outcome outcome;
    std::string reason;
    bool complete = true;
  };
  const std::vector<Row> rows = {
      {"equal", {{kEqual}}, Outcome::equal, ""},
      {"pairs of which no row is kept", {{}}, Outcome::equal, ""},
      {"noise", {{kEqual, kNoise}}, Outcome::noise, ""},
      {"diverged", {{kNoise, kDiverged, kEqual}}, Outcome::diverged, ""},
      {"diverged and incomplete", {{kDiverged}, {kOpen}}, Outcome::diverged, "", false},
      {"a precondition before all",
       {{kDiverged}, {kMissing}, 1, 0, "other weights"},
       Outcome::not_comparable,
       "other weights"},
      {"a precondition, and incomplete",
       {{}, {kOpen}, 1, 0, "other weights"},
       Outcome::not_comparable,
       "other weights",
       false},
      {"no pair", {{}, {}, 0}, Outcome::not_comparable, "nothing was compared"},
      {"no pair, and something missing",
       {{}, {kMissing}, 0},
       Outcome::not_comparable,
       "nothing was compared"},
      {"something missing", {{kEqual}, {kMissing}}, Outcome::diverged, ""},
      {"something missing, and incomplete",
       {{kEqual}, {kMissing, kOpen}},
       Outcome::diverged,
       "",
       false},
      {"incomplete by a finding",
       {{kNoise}, {kOpen}},
       Outcome::not_comparable,
       "incomplete",
       false},
      {"incomplete by what could not be read",
       {{kEqual}, {}, 1, 1},
       Outcome::not_comparable,
       "incomplete",
       false},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Verdict verdict = row.run.concluded();
    CHECK(verdict.outcome == row.outcome);
    CHECK(verdict.reason == row.reason);
    CHECK(verdict.complete == row.complete);
  }
}

TEST_CASE("findings that part the runs by themselves, as errors") {
  struct Row {
    Code code;
    bool parts;
  };
  const std::vector<Row> rows = {
      {Code::missing, true},          {Code::unexpected, true},    {Code::shape_or_dtype, true},
      {Code::replica_mismatch, true}, {Code::tie_mismatch, true},  {Code::partial_sum, false},
      {Code::overlap, false},         {Code::omission, false},     {Code::config, false},
      {Code::unreadable, false},      {Code::missing_rank, false},
  };
  for (const Row& row : rows) {
    INFO(static_cast<int>(row.code));
    for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
      const Concluded run{{kEqual}, {{row.code, severity}}};
      const bool parted = row.parts && severity == Severity::error;
      CHECK(run.concluded().outcome == (parted ? Outcome::diverged : Outcome::equal));
    }
  }
}

TEST_CASE("noise by the built-in model is said once") {
  struct Row {
    std::string what;
    Concluded run;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"no noise", {{kEqual}}, ""},
      {"noise by another limit", {{kEqual, kNoise}}, ""},
      {"by the model",
       {{kModel, kEqual, kModel, kNoise}},
       "2 tensors are noise by the built-in limit model; a repeated run would settle it"},
      {"beside measured ones",
       {{kModel, kMeasured}},
       "1 tensor is noise by the built-in limit model; the limits file has no entry for it"},
      {"in runs that parted", {{kModel, kDiverged}}, ""},
      {"in runs that are not complete", {{kModel}, {kOpen}}, ""},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Verdict verdict = row.run.concluded();
    const std::size_t before = row.run.findings.size();
    REQUIRE(verdict.findings.size() == before + (row.message.empty() ? 0 : 1));
    if (row.message.empty()) continue;
    CHECK(verdict.findings.back().code == Code::unmeasured_noise);
    CHECK(verdict.findings.back().severity == Severity::note);
    CHECK(verdict.findings.back().message == row.message);
  }
}

}  // namespace
}  // namespace ttcheck::verdict
