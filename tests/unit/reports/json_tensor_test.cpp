// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/model/metric_rows.hpp"
#include "reports/json_parts.hpp"

namespace ttcheck::reports {
namespace {

/// Of shape [2, 3], each number another one.
TensorResult result() {
  TensorResult made;
  made.identity.name = "w";
  made.shape = {2, 3};
  made.metrics.count = 6;
  made.metrics.unequal_values = 5;
  made.metrics.max_abs = 0.5;
  made.metrics.max_abs_index = 0;
  made.metrics.max_rel_index = 5;
  made.metrics.candidate = {1, 2, 3};
  return made;
}

TEST_CASE("a compared pair: what is not there is null") {
  OrderedJson made = json_of(result());
  CHECK(made["metrics"].size() == metric_rows().size());
  made.erase("metrics");
  CHECK(
      made.dump() ==
      R"({"name":"w","kind":"weight","verdict":"equal","borderline":false,"shape":[2,3],"dtype":"f32",)"
      R"("candidate_dtype":"f32","cast":null,"limit":0.0,"limit_source":null,"limit_rel":0.0,"limit_kind":"exact","allowance":null,"error":0.0,)"
      R"("ratio":0.0,"test":null,"step":null,"phase":null,"microbatch":null,"call":null,)"
      R"("candidate_name":null,"rule":null,"wrong_ranks":[],"worst":null,"ranks":[]})");
}

TEST_CASE("a compared pair of a trace, with all there is") {
  TensorResult one = result();
  one.step = 0;
  one.identity.phase = Phase::forward;
  one.identity.microbatch = 2;
  one.candidate_name = "v";
  one.rule = "map:1";
  one.kind = Kind::main_grad;
  one.by_limit = Outcome::diverged;
  one.dtype = DType::bf16;
  one.candidate_dtype = DType::f16;
  one.cast = "rounding";
  one.limit.rel = 0.25;
  one.limit.source = "spec";
  one.error = 1;
  one.allowed = 0.125;
  one.ratio = 8;
  one.test = Test::row;
  one.wrong_ranks = {1, 3};
  RankError rank;
  rank.rank = 3;
  rank.metrics.sum_d2 = 1;
  rank.metrics.sum_a2 = 4;
  rank.metrics.max_abs = 0.75;
  rank.metrics.unequal_values = 7;
  rank.metrics.non_finite_disagree = 8;
  one.ranks = {rank};
  one.allowance = {"terms", 0.5};
  one.values = {1, std::numeric_limits<double>::infinity()};
  OrderedJson made = json_of(one);
  made.erase("metrics");
  CHECK(
      made.dump() ==
      R"({"name":"w","kind":"main_grad","verdict":"noise","borderline":false,"shape":[2,3],"dtype":"bf16",)"
      R"("candidate_dtype":"f16","cast":"rounding","limit":0.125,"limit_source":"spec","limit_rel":0.25,"limit_kind":"exact",)"
      R"("allowance":{"rule":"terms","amount":0.5},"error":1.0,"ratio":8.0,"test":"row","step":0,"phase":"forward","microbatch":2,"call":0,)"
      R"("candidate_name":"v","rule":"map:1","wrong_ranks":[1,3],"worst":{"reference":1.0,"candidate":"inf"},)"
      R"("ranks":[{"rank":3,"rel":0.5,"max_abs":0.75,"unequal_values":7,)"
      R"("non_finite_disagree":8}]})");
}

TEST_CASE("metrics: counts, numbers, places, what is not finite") {
  const OrderedJson made = json_of(result())["metrics"];
  CHECK(made["count"].dump() == "6");
  CHECK(made["max_abs"].dump() == "0.5");
  CHECK(made["max_abs_index"].dump() == "[0,0]");
  CHECK(made["max_rel_index"].dump() == "[1,2]");
  CHECK(made["max_quotient_index"].dump() == "null");
  CHECK(made["non_finite_candidate"].dump() == R"({"nan":1,"inf":2,"-inf":3})");
}

TEST_CASE("what the second pass found stands behind the metrics") {
  TensorResult one = result();
  one.detail = Detail{};
  const auto behind = [&] {
    OrderedJson made = json_of(one)["metrics"];
    for (const MetricRow& row : metric_rows()) made.erase(std::string(row.name));
    return made.dump();
  };
  CHECK(behind() == R"({"row_error":0.0,"row":null,"outlier":0.0,"outlier_index":null,)"
                    R"("column":null,"ulp_quantiles":[]})");
  one.detail->row = 0;
  one.detail->column = 0;
  one.detail->outlier_index = 0;
  CHECK(behind() == R"({"row_error":0.0,"row":0,"outlier":0.0,"outlier_index":[0,0],)"
                    R"("column":0,"ulp_quantiles":[]})");
  *one.detail = {0.5, 1, 0.25, 4, 2, {{0.5, 3}, {1, 9}}};
  CHECK(behind() == R"({"row_error":0.5,"row":1,"outlier":0.25,"outlier_index":[1,1],)"
                    R"("column":2,"ulp_quantiles":[{"quantile":0.5,"ulp":3},)"
                    R"({"quantile":1.0,"ulp":9}]})");
}

}  // namespace
}  // namespace ttcheck::reports
