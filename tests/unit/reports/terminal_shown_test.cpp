// SPDX-License-Identifier: Apache-2.0
// What `show` tells of its tensor: what it is, where it is wrong, its values, where it is stored.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

Verdict shown_of(std::optional<Outcome> outcome = {}) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.reference = RunSummary{"p\n", "hf\x1b", {}, {}, 1, 24};
  TensorResult& result = verdict.tensors.emplace_back();
  result.identity.name = "w\x1b";
  result.shape = {2, 3};
  result.by_limit = outcome.value_or(Outcome::equal);
  result.limit.kind = LimitKind::model;
  result.limit.source = "so";
  result.error = 0.25;
  result.allowed = 0.5;
  result.ratio = 0.5;
  result.metrics.count = 1;
  verdict.shown.emplace();
  return verdict;
}

/// With a profile that has no axes, no blocks, and one value or two of one.
Verdict profiled(bool pair) {
  Verdict verdict = shown_of(pair ? std::optional(Outcome::noise) : std::nullopt);
  Profile& profile = verdict.shown->profile.emplace();
  profile.pair = pair;
  profile.all.unequal = pair ? 1 : 0;
  profile.sides.resize(pair ? 2 : 1);
  return verdict;
}

/// The lines from `begin`, which follows a blank line, to the next blank line.
std::string block_of(const Verdict& verdict, const std::string& begin,
                     const ReportOptions& options = {}) {
  const std::string text = shown_section(verdict, options);
  const std::size_t at = text.find("\n\n" + begin);
  return at == text.npos ? "" : text.substr(at + 2, text.find("\n\n", at + 2) + 1 - at - 2);
}

TEST_CASE("what one tensor is") {
  const std::string run = "p\\n  hf\\x1b\n";
  const std::string tensor = "\nTensor\n  tensor     w\\x1b, weight f32 [2, 3]\n";
  Verdict verdict = shown_of();
  CHECK(shown_section(verdict, {}) == run + tensor);
  CHECK(shown_section(verdict, {.color = true, .width = 30}) ==
        "\x1b[1mp\\n\x1b[0m  hf\\x1b\n\n\x1b[1mTensor\x1b[0m\n"
        "  tensor     w\\x1b, weight f32\n             [2, 3]\n");
  verdict.shown->dims = "x[tp] y\n";
  verdict.tensors[0].step = 0;
  verdict.shown->choice = "the newest of 2 steps that has it";
  verdict.shown->hints = {"a\n", "b"};
  const std::string lines =
      "  dims       x[tp] y\\n\n"
      "  step       0\n"
      "  which      the newest of 2 steps that has it\n"
      "  note       a\\n\n"
      "  note       b\n";
  CHECK(shown_section(verdict, {}) == run + tensor + lines);
  verdict.reference.reset();
  CHECK(shown_section(verdict, {}) == tensor + lines);
  verdict.tensors.clear();
  CHECK(shown_section(verdict, {}).empty());
}

TEST_CASE("what two tensors are, unless the first difference has told it") {
  const std::string tensor = "\nInside the tensor\n  tensor     w\\x1b, weight f32 [2, 3]\n";
  const std::string size = "  size       max |b-a| 0, 0 of 1 elements differ\n";
  Verdict verdict = shown_of(Outcome::noise);
  TensorResult& result = verdict.tensors[0];
  CHECK(shown_section(verdict, {}) ==
        tensor + "  error      0.25 relative, 0.5 times the limit 0.5 (so)\n" + size);
  result.by_limit = Outcome::equal;
  CHECK(shown_section(verdict, {}) == tensor + "  error      none, bit for bit\n" + size);
  result.cast = "wide\n";
  CHECK(shown_section(verdict, {}) == tensor + "  error      none after wide\\n\n" + size);
  result.metrics.count = 0;
  CHECK(shown_section(verdict, {}) == tensor);
  result.metrics.count = 1;
  result.step = 7;
  verdict.first = Divergence{};
  CHECK(shown_section(verdict, {}).empty());
  verdict.shown->dims = "x y";
  CHECK(shown_section(verdict, {}) == "\nInside the tensor\n  dims       x y\n");
}

TEST_CASE("within which slices the error lies") {
  struct Row {
    std::string axis;
    std::int64_t per_bin, extent;
    Confinement confined;
    std::string text;
  };
  const std::vector<Row> rows = {
      {"row", 1, 24, {0, 5, 5, 1}, "100% of the error lies in row 5, 1 of 24"},
      {"row", 2, 24, {0, 4, 7, 0.9999}, "99.9% of the error lies in rows 4-7, 4 of 24"},
      {"head", 64, 256, {0, 64, 191, 0.995}, "99.5% of the error lies in heads 1-2, 2 of 4"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    Verdict verdict = profiled(true);
    verdict.first = Divergence{};
    verdict.shown->profile->axes = {{row.axis, 0, row.per_bin, row.extent, {}}};
    verdict.shown->profile->all.unequal = 0;  // no strips
    CHECK(shown_section(verdict, {}).starts_with("\nValues"));
    verdict.shown->profile->confined = row.confined;
    CHECK(shown_section(verdict, {})
              .starts_with("\nInside the tensor\n  within     " + row.text + "\n\nValues"));
  }
}

TEST_CASE("values of one side and of both") {
  Verdict verdict = profiled(false);
  verdict.shown->profile->sides[0] = {4, 1234, 0, 0, 0, -1, -1, -1, -0.5, 3, -1, -1, 1, 16, 36};
  CHECK(shown_section(verdict, {})
            .ends_with(  // nothing follows
                "\n\nValues         finite  least  most  mean  std  rms  zeros\n"
                "of the tensor       4   -0.5     3     1    2    3  1,234\n"));
  verdict = profiled(true);
  verdict.shown->profile->sides[0] = {1, 0, 1, 1, 0, 0, 3, -1, 2, 2, -1, -1, 2, 0, 4};
  verdict.shown->profile->sides[1] = {0, 0, 0, 1000, 234, -1, 4, 5};
  const std::string rows =
      "reference       1      2     2     2    0    2      0    1      1\n"
      "candidate       0      -     -     -    -    -      0       1,234\n"
      "  first      NaN of the reference at [0, 0]\n"
      "  first      +Inf of the reference at [1, 0]\n"
      "  first      +Inf of the candidate at [1, 1]\n"
      "  first      -Inf of the candidate at [1, 2]\n";
  CHECK(block_of(verdict, "Values") ==
        "Values     finite  least  most  mean  std  rms  zeros  NaN    Inf\n" + rows);
}

TEST_CASE("where it is stored") {
  Verdict verdict = shown_of();
  const Box box = {{0, 0}, {2, 3}};
  verdict.shown->parts = {{0, "piece", DType::f32, box, 1, {"a\n", 16}},
                          {12, "replica", DType::bf16, {{1, 0}, {1, 3}}, 2, {"b\x1b"}},
                          {-1, "addend", DType::f32, box, 3, {"", 4}}};
  CHECK(block_of(verdict, "rank") ==
        "rank  Stored   dtype  box                     where\n"
        "   0  piece    f32    [0:2, 0:3]              a\\n at byte 16\n"
        "  12  replica  bf16   [1:2, 0:3]  and 1 more  b\\x1b\n"
        "      addend   f32    [0:2, 0:3]  and 2 more  -\n");
  verdict.outcome = Outcome::noise;
  verdict.shown->parts = {{-1, "piece", DType::f32, box, 1, {"a"}}};
  CHECK(block_of(verdict, "Stored") ==
        "Stored in the candidate  dtype  box         where\n"
        "piece                    f32    [0:2, 0:3]  a\n");
}

RankError rank_error(std::int32_t rank, double d2, double a2) {
  return {rank, {.count = 4, .unequal_values = 2, .max_abs = 0.5, .sum_d2 = d2, .sum_a2 = a2}};
}

TEST_CASE("ranks, the worst first, with the limit where it is one of the relative error") {
  Verdict verdict = profiled(true);
  TensorResult& result = verdict.tensors[0];
  result.limit.rel = 0.125;
  result.ranks = {rank_error(1, 1, 256), rank_error(2, 1, 16), rank_error(0, 1, 256)};
  result.ranks[1].metrics.count = 1000;
  result.wrong_ranks = {2};
  CHECK(block_of(verdict, "Rank") ==
        "Rank  elements  differ   error  ratio  max |b-a|\n"
        "   2     1,000       2    0.25      2        0.5  beyond\n"
        "   1         4       2  0.0625    0.5        0.5\n"
        "   0         4       2  0.0625    0.5        0.5\n");
  result.ranks = {rank_error(-1, 1, 256)};
  result.limit.kind = LimitKind::tolerance;
  CHECK(block_of(verdict, "Rank") ==
        "Rank  elements  differ   error  max |b-a|\n"
        "   -         4       2  0.0625        0.5\n");
  result.limit.kind = LimitKind::exact;
  result.limit.rel = 0;
  result.ranks[0].metrics.non_finite_disagree = 1;
  CHECK(block_of(verdict, "Rank") ==
        "Rank  elements  differ  error  max |b-a|\n"
        "   -         4       2    inf        0.5\n");
}

TEST_CASE("a rank with NaN on one side only is worse than any that has numbers") {
  Verdict verdict = profiled(true);
  TensorResult& result = verdict.tensors[0];
  result.limit.kind = LimitKind::model;
  result.limit.rel = 0.125;
  result.ranks = {rank_error(0, 1, 16), rank_error(1, 0, 16)};
  result.ranks[1].metrics.non_finite_disagree = 1;
  CHECK(block_of(verdict, "Rank") ==
        "Rank  elements  differ  error  ratio  max |b-a|\n"
        "   1         4       2    inf    inf        0.5\n"
        "   0         4       2   0.25      2        0.5\n");
}

TEST_CASE("a map of blocks") {
  const std::string legend =
      "             @ up to 4, then each half: % # * + = - : . (or less), blank 0\n";
  Verdict verdict = profiled(false);
  Profile& profile = *verdict.shown->profile;
  CHECK(block_of(verdict, "Rms by block").empty());
  BlockProfile& blocks = profile.blocks.emplace(BlockProfile{0, 0, 2, 3, 2, 2, {}});
  for (const double rms : {4, 2, 0, 1}) {
    Sums& sums = blocks.blocks.emplace_back();
    sums.count = 1;
    sums.a2 = sums.d2 = rms * rms;
  }
  CHECK(block_of(verdict, "Rms by block") ==
        "Rms by block of 2 x 3 elements\n" + legend + "         0 |@%|\n         2 | #|\n");
  blocks.blocks.resize(2);
  blocks.down = 1;
  CHECK(block_of(verdict, "Rms by block", {.unicode = true}) ==
        "Rms by block of 2 x 3 elements\n"
        "             █ up to 4, then each a quarter: ▓ ▒ ░ (or less), blank 0\n"
        "         0 |██|\n");
  profile.pair = true;
  CHECK(block_of(verdict, "Error by block").empty());
  profile.all.count = 2;  // its squares are 0: each block is as wrong as its own are large
  profile.all.unequal = 1;
  CHECK(block_of(verdict, "Error by block") ==
        "Error by block of 2 x 3 elements\n"
        "             @ up to 1, then each half: % # * + = - : . (or less), blank 0\n"
        "         0 |@@|\n");
  blocks.blocks.resize(1);
  blocks.across = 1;
  CHECK(block_of(verdict, "Error by block").empty());
}

TEST_CASE("the largest elements of one side, and the worst of both") {
  Verdict verdict = profiled(false);
  std::vector<ProfiledElement>& elements = verdict.shown->profile->elements;
  elements = {{5, {0.1234567891, 7}, {}, 0, {}, {0, 1, 2}, Where{"f\n", 8}, {}},
              {0, {-2, 0.5}, {}, 0, {}, {}, {}, {}}};
  CHECK(block_of(verdict, "Largest elements") ==
        "Largest elements        value  ranks  where\n"
        "[1, 2]            0.123456789  0-2    f\\n at byte 8\n"
        "[0, 0]                     -2         -\n");
  elements = {{0, {1, 2}, {0.5, -0.25}, 1.5, 3, {4}, Where{"c", 8}, Where{"r", 16}}};
  verdict.tensors[0].dtype = DType::c64;
  CHECK(block_of(verdict, "Largest elements") ==
        "Largest elements  value  ranks  where\n"
        "[0, 0]             1+2i  4      c at byte 8\n");
  elements.push_back({4, {1, 0}, {2, 0}, std::nan(""), {}, {}, {}, {}});
  verdict.shown->profile->pair = true;
  CHECK(block_of(verdict, "Worst elements") ==
        "Worst elements  reference  candidate  |b-a|  ulp  ranks  where\n"
        "[0, 0]               1+2i  0.5-0.25i    1.5    3  4      c at byte 8\n"
        "[1, 1]               1+0i       2+0i                     -\n");
}

TEST_CASE("at most `top` places, ranks and elements are listed") {
  Verdict verdict = profiled(true);
  for (const std::int32_t i : {0, 1, 2}) {
    verdict.shown->parts.push_back({i, "piece", DType::f32, {{0}, {6}}, 1, {"f"}});
    verdict.shown->profile->elements.push_back({i, {1, 0}, {2, 0}, 1, {}, {}, {}, {}});
    verdict.tensors[0].ranks.push_back(rank_error(i, 1, 16));
  }
  const std::string two = "... and 2 more (--top 0)\n";
  const std::string one = "... and 1 more (--top 0)\n";
  const std::vector<std::tuple<int, std::size_t, std::string>> rows = {
      {-1, 3, ""}, {0, 3, ""}, {1, 1, two}, {2, 2, one}, {3, 3, ""}, {4, 3, ""}};
  for (const auto& [top, listed, rest] : rows) {
    INFO(top);
    std::string parts = "rank  Stored in the candidate  dtype  box    where\n";
    std::string ranks = "Rank  elements  differ  error  max |b-a|\n";
    std::string elements = "Worst elements  reference  candidate  |b-a|  where\n";
    for (std::size_t i = 0; i < listed; ++i) {
      const std::string number = std::to_string(i);
      parts += "   " + number + "  piece                    f32    [0:6]  f\n";
      ranks += "   " + number + "         4       2   0.25        0.5\n";
      elements += "[0, " + number + "]                  1          2      1  -\n";
    }
    CHECK(block_of(verdict, "rank", {.top = top}) == parts + rest);
    CHECK(block_of(verdict, "Rank", {.top = top}) == ranks + rest);
    CHECK(block_of(verdict, "Worst elements", {.top = top}) == elements);
  }
}

TEST_CASE("the parts of the section, top to bottom") {
  Verdict verdict = profiled(true);
  Profile& profile = *verdict.shown->profile;
  profile.axes.emplace_back().name = "row";
  profile.axes[0].bins.resize(2);
  profile.axes[0].bins[0] = {1, 1, 0, 0, 1, 1, 1};
  profile.blocks.emplace().blocks = profile.axes[0].bins;
  profile.all = profile.axes[0].bins[0];
  profile.histogram.bins = {0, 1};
  profile.elements.emplace_back().index = 0;
  verdict.tensors[0].ranks = {rank_error(0, 1, 16)};
  verdict.shown->parts.emplace_back().role = "piece";
  const std::string text = "\n" + shown_section(verdict, {.color = true});
  std::string titles;  // the first word of each, bold
  for (std::size_t at = text.find("\n\n"); at != text.npos; at = text.find("\n\n", at + 1)) {
    titles += text.substr(at + 2, text.find_first_of(" \x1b", at + 3) - at - 2) + " ";
  }
  CHECK(titles ==
        "\x1b[1mInside \x1b[1mError \x1b[1mWorst \x1b[1mError \x1b[1mRank \x1b[1m|b-a| "
        "\x1b[1mValues \x1b[1mWorst \x1b[1mStored ");
}

}  // namespace
}  // namespace ttcheck::reports
