// SPDX-License-Identifier: Apache-2.0
#include "core/limits/limits_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::limits {
namespace {

constexpr std::string_view kText = R"(limits = 1
m0 = 2

[calibrated]
reference = "ref"
runs = ["again"]

[[tensor]]
match = "layers.*.mlp"
d = 1e-3

[[tensor]]
match = "layers.7.mlp/output.0"
phase = "forward"
d = 0.125
row = 0.5
outlier = 4
eps = 0.0078125

[[tensor]]
match = "a\\*b"
d = 0
)";

Tensor record(const std::string& name, Phase phase) {
  Tensor made;
  made.identity = {name, phase, 0, 0};
  made.kind = Kind::output;
  made.dtype = DType::bf16;
  made.shape = {4, 16};
  return made;
}

std::string fault(std::string_view text) {
  try {
    parse_limits(text, "l.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("an entry is found by name, by op and by glob; the last that matches counts") {
  const LimitsFile file = parse_limits(kText, "l.toml");
  CHECK(file.m == 5);
  CHECK(file.m0 == 2);
  const auto d_of = [&](const std::string& name, Phase phase) {
    const LimitEntry* entry = file.entry_for({name, phase, 0, 0});
    return entry == nullptr ? -1 : entry->d;
  };
  CHECK(d_of("layers.7.mlp/output.0", Phase::forward) == 0.125);
  CHECK(d_of("layers.7.mlp/output.0", Phase::backward) == 1e-3);
  CHECK(d_of("layers.8.mlp/input.0", Phase::forward) == 1e-3);
  CHECK(d_of("layers.8.mlp.fc/input.0", Phase::forward) == -1);
  CHECK(d_of("a*b", Phase::none) == 0);
  CHECK(d_of("axb", Phase::none) == -1);
}

TEST_CASE("a limit is m times what was measured, or m0 round-offs; rows and elements follow") {
  const LimitsFile file = parse_limits(kText, "l.toml");
  LimitOptions options;
  options.mode = LimitOptions::Mode::file;
  options.file = std::make_shared<LimitsFile>(file);
  LimitContext context;
  context.trace = true;
  context.coarsest = DType::bf16;
  const Tensor wide = record("layers.7.mlp/output.0", Phase::forward);
  Limit limit = limit_for(wide, wide, context, options);
  CHECK(limit.kind == LimitKind::measured);
  CHECK(limit.rel == 0.625);
  CHECK(limit.row == 6 * 0.625);
  CHECK(limit.outlier == 20);
  CHECK(limit.source == "l.toml: 5 x measured 0.125");
  CHECK(limit.words() == "l.toml: 5 x measured, at least 2 eps");
  const Tensor tight = record("layers.8.mlp/output.0", Phase::forward);
  limit = limit_for(tight, tight, context, options);
  CHECK(limit.rel == 2 * 0.0078125);
  CHECK(limit.measured == 1e-3);
  CHECK(limit.source == "l.toml: 2 eps, above 5 x measured 0.001");
  const Tensor other = record("head/output.0", Phase::forward);
  CHECK(limit_for(other, other, context, options).kind == LimitKind::model);
  CHECK(limit_for(other, tight, context, options).kind == LimitKind::measured);
}

TEST_CASE("the rounding of an entry is that of the runs where they round coarser") {
  LimitsFile limits;
  limits.m0 = 2;
  LimitEntry entry;
  entry.eps = 0.0078125;
  const Tensor tensor = record("layers.8.mlp/output.0", Phase::forward);
  CHECK(measured_limit(limits, entry, tensor, DType::f32).rel == 2 * 0.0078125);
  CHECK(measured_limit(limits, entry, tensor, DType::f8_e4m3fn).rel == 2 * 0.125);
  entry.eps.reset();
  CHECK(measured_limit(limits, entry, tensor, DType::bf16).rel == 2 * 0.0078125);
}

TEST_CASE("a state at rest is held to what was measured, with no floor but of one element") {
  LimitsFile limits;
  LimitEntry entry;
  entry.d = 1e-3;
  Tensor weight;
  weight.identity.name = "w";
  weight.dtype = DType::bf16;
  weight.shape = {64, 256};
  Limit limit = measured_limit(limits, entry, weight, DType::bf16);
  CHECK(limit.rel == doctest::Approx(5e-3));
  entry.d = 0;
  limit = measured_limit(limits, entry, weight, DType::bf16);
  CHECK(limit.rel == doctest::Approx(4 * 0x1p-7 / 128));
  CHECK(limit.row == doctest::Approx(4 * 0x1p-7 / 16));
  CHECK(limit.outlier == doctest::Approx(0.017));
  CHECK(measured_limit(limits, entry, weight, DType::f32).rel == doctest::Approx(4 * 0x1p-23));
}

TEST_CASE("what is printed reads back, whatever the names hold") {
  LimitsFile file;
  file.origin.reference = "a\nb\"\\\x7f\xff \xe2\x80\xae";
  LimitEntry& entry = file.entries.emplace_back();
  entry.match = "q\\\\*\t\xc3\xa9";
  entry.d = 1e-7;
  entry.samples = 3;
  const std::string text = print_limits(file);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);  // it would turn the line around
  CHECK(text.find("\x7f") == std::string::npos);
  const LimitsFile back = parse_limits(text, "l.toml");
  CHECK(back.entries.at(0).match == file.entries[0].match);
  CHECK(back.entries.at(0).d == 1e-7);
  CHECK(back.entries.at(0).samples == 3);
  CHECK(back.origin.reference == "a\nb\"\\\x7f\xef\xbf\xbd \xe2\x80\xae");
  CHECK(print_limits(back).size() > text.size() - 8);
}

TEST_CASE("what was measured of states is read back, and m times that are allowed") {
  LimitsFile file = parse_limits("limits = 1\nm = 2\n[states]\nweights = 1e-3\n", "l.toml");
  Cuts cuts = cuts_of(&file);
  CHECK(cuts.measured);
  CHECK(cuts.weights == doctest::Approx(2e-3));
  CHECK(cuts.of(Kind::weight) / cuts.times == doctest::Approx(1e-3));
  file.states = MeasuredStates{0, 1e-2};
  cuts = cuts_of(&file);
  CHECK(cuts.weights == Cuts().weights);
  CHECK(cuts.moments == doctest::Approx(2e-2));
  CHECK(parse_limits(print_limits(file), "l.toml").states->moments == 1e-2);
  CHECK(!cuts_of(nullptr).measured);
  CHECK_THROWS_WITH_AS(parse_limits("limits = 1\n[states]\nmoments = 1\n", "l.toml"),
                       doctest::Contains("weights is missing"), Error);
}

TEST_CASE("a few repeats that agree by luck make nothing stricter than it is without them") {
  const LimitsFile file =
      parse_limits("limits = 1\n[states]\nweights = 1e-9\nmoments = 1e-8\n", "l.toml");
  CHECK(cuts_of(&file).weights == Cuts().weights);
  CHECK(cuts_of(&file).moments == Cuts().moments);
  CHECK(cuts_of(&file).biases->empty());
}

TEST_CASE("repeats that vary by more than m leave open what is m times beyond them") {
  const auto unsure = [](std::string_view least) {
    const std::string text = fmt::format("limits = 1\n[states]\nweights = 1e-3\n{}", least);
    const LimitsFile file = parse_limits(text, "l.toml");
    CHECK(parse_limits(print_limits(file), "l.toml").states->least == file.states->least);
    return cuts_of(&file).unsure;
  };
  CHECK(unsure("") == 1);
  CHECK(unsure("least = 3e-4\n") == 1);
  CHECK(unsure("least = 1e-4\n") == 5);
  CHECK(unsure("least = 0\n") == 5);
  CHECK(unsure("least = 1e-3\n") == 5);     // one distance alone,
  CHECK(unsure("least = 9.99e-4\n") == 5);  // from the other side
  const LimitsFile single = parse_limits("limits = 1\n[states]\nweights = 0\nleast = 0\n", "l");
  CHECK(cuts_of(&single).unsure == 5);
  const LimitsFile equal = parse_limits("limits = 1\n[states]\nweights = 0\n", "l");
  CHECK(cuts_of(&equal).unsure == 5);
}

TEST_CASE("biases that chance moved are kept by part") {
  LimitsFile file;
  file.states = MeasuredStates{1e-5, std::nullopt, {{"layers.#.\"k\".bias", 1.5}}};
  const std::string text = print_limits(file);
  CHECK(
      text.ends_with("\n[states]\nweights = 1e-05\n"
                     "\n[states.biases]\n\"layers.#.\\\"k\\\".bias\" = 1.5\n"));
  const LimitsFile back = parse_limits(text, "l.toml");
  CHECK(back.states->biases == file.states->biases);
  CHECK_THROWS_WITH_AS(
      parse_limits("limits = 1\n[states]\nweights = 1\n[states.biases]\nb = \"x\"\n", "l.toml"),
      doctest::Contains("must be a number"), Error);
}

TEST_CASE("a minus in front of a zero means nothing") {
  const LimitsFile file = parse_limits("limits = 1\nm = -0.0\n", "l.toml");
  CHECK_FALSE(std::signbit(file.m));
}

TEST_CASE("each field of an entry is printed, where it says something") {
  LimitsFile file;
  file.m = 3;
  file.m0 = 2.5;
  file.origin = {"ttcheck 1", "ref", {"a", "b"}, {"noise"}, 4};
  LimitEntry entry;
  entry.match = "w";
  entry.d = 0.25;
  file.entries.push_back(entry);  // nothing else is known
  entry.phase = Phase::forward;
  entry.row = 0.5;
  entry.outlier = 2;
  entry.eps = 0.125;
  entry.samples = 7;
  entry.p50 = 0.0625;
  entry.p90 = 0.1875;
  file.entries.push_back(entry);
  const std::string text = print_limits(file);
  CHECK(text.find("limits = 1\nm = 3\nm0 = 2.5\n") != std::string::npos);
  CHECK(
      text.ends_with("\n[[tensor]]\nmatch = \"w\"\nd = 0.25\n"
                     "\n[[tensor]]\nmatch = \"w\"\nphase = \"forward\"\nd = 0.25\nrow = 0.5\n"
                     "outlier = 2\neps = 0.125\nsamples = 7\np50 = 0.0625\np90 = 0.1875\n"));
  const LimitsFile back = parse_limits(text, "l.toml");
  CHECK(back.m == 3);
  CHECK(back.m0 == 2.5);
  CHECK(back.origin.runs == std::vector<std::string>{"a", "b"});
  CHECK(back.origin.perturbations == std::vector<std::string>{"noise"});
  CHECK(back.origin.comparisons == 4);
  REQUIRE(back.entries.size() == 2);
  CHECK(back.entries[1].phase == Phase::forward);
  CHECK(back.entries[1].p50 == 0.0625);
  CHECK(back.entries[1].p90 == 0.1875);
  CHECK_FALSE(back.entries[0].p90);
  CHECK(print_limits(back) == text);
}

TEST_CASE("a mistake is shown with its line and a caret") {
  CHECK(fault("limits = 1\n[[tensor]]\nmatch = \"a\"\nd = -1\n") ==
        "l.toml: line 4: d must be a number not below 0, column 5\n  d = -1\n      ^");
  CHECK(fault("m = 5\n").find("limits = 1 is missing") != std::string::npos);
  CHECK(fault("limits = 2\n").find("expected 1: ttcheck calibrate writes a new one") !=
        std::string::npos);
  CHECK(fault("limits = 1\n[[tensor]]\nmatch = \"a{\"\nd = 1\n").find("line 3") !=
        std::string::npos);
  CHECK(fault("limits = 1\n[[tensor]]\nmatch = \"a\"\n").find("d is missing") != std::string::npos);
  CHECK(fault("limits = 1\n[[tensor]]\nname = \"a\"\n").find("has no key name") !=
        std::string::npos);
  CHECK(fault("limits = 1\nm = inf\n").find("line 2") != std::string::npos);
  CHECK(fault("limits = 1\n[[tensor]]\nmatch = \"a\"\nd = 1\nphase = \"x\"\n").find("line 5") !=
        std::string::npos);
}

}  // namespace
}  // namespace ttcheck::limits
