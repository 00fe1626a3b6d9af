// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "reports/json_parts.hpp"

namespace ttcheck::reports {
namespace {

Verdict verdict_of(DType dtype = DType::f32) {
  Verdict verdict;
  TensorResult& one = verdict.tensors.emplace_back();
  one.identity.name = "w\x01";
  one.identity.microbatch = 4;
  one.identity.call = 5;
  one.shape = {4, 6};
  one.dtype = dtype;
  return verdict;
}

OrderedJson made(const Shown& shown, const Verdict& verdict, bool all = false) {
  return json_of(shown, verdict, {.all = all});
}

TEST_CASE("what tensor it is; what is not there is null") {
  CHECK(made({}, {}).is_null());
  CHECK(made({}, verdict_of()).dump() ==
        R"({"name":"w\u0001","kind":"weight","dtype":"f32","shape":[4,6],"dims":null,)"
        R"("step":null,"phase":null,"microbatch":null,"call":null,"which":null,"notes":[],)"
        R"("compared":null,"parts":[],"profile":null})");
  Verdict verdict = verdict_of();
  verdict.tensors[0].step = 0;
  verdict.tensors[0].identity.phase = Phase::loss;
  verdict.outcome = Outcome::noise;
  OrderedJson full = made({"tp", "the last", {}, {"odd", "even"}, {}}, verdict);
  CHECK(full["compared"] == json_of(verdict.tensors[0]));
  full.erase("compared");
  CHECK(full.dump() ==
        R"({"name":"w\u0001","kind":"weight","dtype":"f32","shape":[4,6],"dims":"tp",)"
        R"("step":0,"phase":"loss","microbatch":4,"call":5,"which":"the last",)"
        R"("notes":["odd","even"],"parts":[],"profile":null})");
}

TEST_CASE("stored parts") {
  Shown shown;
  shown.parts = {{0, "piece", DType::bf16, {{0, 3}, {4, 2}}, 2, {"f", 8, {}}}, {}};
  const OrderedJson parts = made(shown, verdict_of())["parts"];
  CHECK(parts[0].dump() == R"({"rank":0,"role":"piece","dtype":"bf16","lo":[0,3],"size":[4,2],)"
                           R"("boxes":2,"where":{"file":"f","offset":8}})");
  CHECK(parts[1]["rank"].is_null());
}

/// One side, nothing in it.
Shown profiled() {
  Shown shown;
  shown.profile = Profile{};
  shown.profile->sides = {{}};
  return shown;
}

TEST_CASE("values of each side; without finite ones there are no moments") {
  Shown shown = profiled();
  ValueStats& side = shown.profile->sides[0];
  side.nan = 2;
  side.first_nan = 0;
  side.plus_inf = 3;
  side.first_plus_inf = 1;
  side.minus_inf = 4;
  side.first_minus_inf = 7;
  shown.profile->sides.push_back({});
  ValueStats& other = shown.profile->sides[1];
  other.finite = 2;
  other.zeros = 1;
  other.least = -3;
  other.least_index = 23;
  other.most = 0;
  other.most_index = 22;
  other.mean = -1.5;
  other.m2 = 4.5;
  other.sum2 = 8;
  const OrderedJson values = made(shown, verdict_of())["profile"]["values"];
  CHECK(values[0].dump() ==
        R"({"finite":0,"zeros":0,"nan":2,"inf":3,"-inf":4,"first_nan":[0,0],"first_inf":[0,1],)"
        R"("first_-inf":[1,1],"least":null,"least_index":null,"most":null,"most_index":null,)"
        R"("mean":null,"std":null,"rms":null})");
  CHECK(values[1].dump() ==
        R"({"finite":2,"zeros":1,"nan":0,"inf":0,"-inf":0,"first_nan":null,"first_inf":null,)"
        R"("first_-inf":null,"least":-3.0,"least_index":[3,5],"most":0.0,"most_index":[3,4],)"
        R"("mean":-1.5,"std":1.5,"rms":2.0})");
}

/// `size` is its rms.
Sums sums_of(double size, std::int64_t count = 1) {
  Sums made;
  made.count = count;
  made.a2 = size * size * static_cast<double>(count);
  made.largest = size;
  made.unequal = 6;
  made.d2 = 7;
  return made;
}

TEST_CASE("axes: bins with their slices, the ten worst or all") {
  Shown shown = profiled();
  shown.profile->axes = {{"rows", 1, 2, 5, {sums_of(1), sums_of(3), sums_of(2)}}};
  OrderedJson axis = made(shown, verdict_of())["profile"]["axes"][0];
  CHECK(axis["bins"][0].dump() == R"({"first":2,"last":3,"rms":3.0,"a2":9.0,"d2":7.0,)"
                                  R"("largest":3.0,"unequal":6,"non_finite":0})");
  CHECK(axis["bins"][1]["first"] == 4);
  CHECK(axis["bins"][1]["last"] == 4);  // the last bin is not full
  CHECK(axis["bins"][2]["first"] == 0);
  axis.erase("bins");
  CHECK(axis.dump() == R"({"name":"rows","dim":1,"extent":5,"slices_per_bin":2})");

  shown.profile->axes[0].extent = 24;
  shown.profile->axes[0].bins.assign(12, sums_of(1));
  shown.profile->axes[0].bins[11] = sums_of(2);
  const auto bins = [&](bool all) {
    return made(shown, verdict_of(), all)["profile"]["axes"][0]["bins"];
  };
  CHECK(bins(false).size() == 10);
  CHECK(bins(false)[0]["first"] == 22);
  CHECK(bins(true).size() == 12);
  CHECK(bins(true)[11]["first"] == 22);
  shown.profile->pair = true;
  CHECK(bins(false)[0].contains("error"));
}

TEST_CASE("blocks row by row, histogram, where the error is confined") {
  Shown shown = profiled();
  shown.profile->blocks = BlockProfile{
      4, 6, 2, 3, 2, 3, {sums_of(1), sums_of(2), sums_of(3), sums_of(4), sums_of(5), sums_of(6)}};
  shown.profile->histogram = {-3, 0.5, 4, 5, {1, 2}, {3}};
  OrderedJson profile = made(shown, verdict_of())["profile"];
  CHECK(profile["blocks"].dump() == R"({"block":[2,3],"rms":[[1.0,2.0,3.0],[4.0,5.0,6.0]]})");
  CHECK(profile["histogram"].dump() == R"({"unit":0.5,"lowest":-3,"zeros":4,"non_finite":5,)"
                                       R"("bins":[1,2],"negative_bins":[3]})");
  CHECK(profile["confined"].is_null());
  shown.profile->axes = {{"rows", 0, 1, 4, {}}, {"columns", 1, 1, 6, {}}};
  shown.profile->confined = Confinement{1, 2, 3, 0.75};
  profile = made(shown, verdict_of())["profile"];
  CHECK(profile["confined"].dump() ==
        R"({"axis":"columns","dim":1,"first":2,"last":3,"share":0.75})");
  shown.profile->blocks.reset();
  shown.profile->pair = true;
  CHECK(made(shown, verdict_of())["profile"]["blocks"].is_null());
}

TEST_CASE("elements of one tensor, of a pair, of complex numbers") {
  Shown shown = profiled();
  shown.profile->elements = {
      {7, {1, 2}, {3, 4}, 0.5, 9, {0, 2}, Where{"b", 8, {}}, Where{"a", 4, {}}}};
  const auto element = [&](DType dtype) {
    return made(shown, verdict_of(dtype))["profile"]["elements"][0].dump();
  };
  CHECK(element(DType::f32) ==
        R"({"index":[1,1],"value":1.0,"ranks":[0,2],"where":{"file":"b","offset":8}})");
  shown.profile->pair = true;
  CHECK(element(DType::c64) ==
        R"({"index":[1,1],"reference":[1.0,2.0],"candidate":[3.0,4.0],"difference":0.5,)"
        R"("ulp":9,"reference_where":{"file":"a","offset":4},"ranks":[0,2],)"
        R"("where":{"file":"b","offset":8}})");
  shown.profile->elements[0].ulp.reset();
  CHECK(element(DType::f32).find(R"("ulp":null)") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::reports
