// SPDX-License-Identifier: Apache-2.0
// From where on an op is right or wrong, by which limit, and what is said of it.

#include "core/recompute/recompute.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/stored_piece.hpp"

namespace ttcheck::recompute {
namespace {

using Attrs = std::vector<std::pair<std::string, std::string>>;
using Told = Recomputed::State;
using Doubles = std::vector<double>;

/// One call of one op, as one side recorded it.
class Recorded {
 public:
  Recorded(std::string op, DType dtype, Shape shape, const Doubles& in, const Doubles& out,
           Attrs attrs = {}, const std::optional<Doubles>& weight = {})
      : dtype_(dtype), shape_(std::move(shape)) {
    const std::int64_t rows = element_count(shape_) / shape_.back();
    if (weight) add("m/param.weight", Kind::weight, {shape_.back(), shape_.back()}, *weight);
    if (!in.empty()) add("m/input.0", Kind::input, {rows, shape_.back()}, in);
    add("m/output.0", Kind::output, shape_, out);
    if (!in.empty()) tensors[weight ? 1 : 0].shape = shape_;
    auto trace = std::make_shared<TraceRecord>(*tensors.back().trace);
    trace->op = std::move(op);
    trace->attrs = std::move(attrs);
    tensors.back().trace = std::move(trace);
  }
  Recorded(const Recorded&) = delete;

  Tensor& input() { return tensors.front(); }
  Tensor& output() { return tensors.back(); }

  /// What a rank holds of `box`, or all.
  Piece piece(std::int32_t rank, const Doubles& values, const std::optional<Box>& box = {},
              std::optional<DType> dtype = {}) {
    return tests::stored_piece(sources_, rank, dtype.value_or(dtype_), values, box);
  }

  std::vector<Tensor> tensors;

 private:
  void add(const std::string& name, Kind kind, const Shape& shape, const Doubles& values) {
    Tensor& made = tensors.emplace_back();
    made.identity = {name, kind == Kind::weight ? Phase::state : Phase::forward, 0, 0};
    made.kind = kind;
    made.dtype = dtype_;
    made.shape = shape;
    made.pieces = {piece(kNoRank, values)};
    auto trace = std::make_shared<TraceRecord>();
    trace->seq = static_cast<std::int64_t>(tensors.size());
    made.trace = std::move(trace);
  }

  DType dtype_;
  Shape shape_;
  std::deque<tests::ArraySource> sources_;
};

Recomputed judged(Recorded& reference, Recorded& candidate, std::optional<double> budget = {},
                  const std::function<bool()>& stop = {}) {
  const Parameters none;
  const Graph left(reference.tensors, none, 1), right(candidate.tensors, none, 1);
  return Recompute(left, right, stop, budget).judge(reference.output(), candidate.output(), -1);
}

TEST_CASE("from 0.4 of the limit and 8 x the reference's on an op is wrong") {
  struct Row {
    double near, ratio;  ///< of the limit of one element: the reference's error, the candidate's
    Told state;
    bool clear = false;
    double part = 1;  ///< of the limit: what counted as one
  };
  const Row rows[] = {
      {0, 0, Told::right},
      {0, 0.01, Told::right},
      {0, 0.03, Told::unknown},
      {0, 0.39, Told::unknown},
      {0, 0.41, Told::wrong, true, 0.4},
      {0, 1.5, Told::wrong, true},
      {0.04, 0.13, Told::right},
      {0.04, 0.15, Told::unknown},
      {0.1, 0.75, Told::unknown},
      {0.1, 0.85, Told::wrong, true, 0.8},
      {0.2, 1.1, Told::wrong},
      {0.5, 1.4, Told::unknown},
      {0.5, 1.6, Told::wrong},
      {0.9, 0.95, Told::right},
  };
  constexpr std::int64_t kCount = 1024;
  Doubles in(kCount, 1);
  in.back() = 0x1p-10;  // for fine steps
  const double rms = std::sqrt((kCount - 1) / static_cast<double>(kCount));
  const double limit = 4 * 5 * 0x1p-23;
  const auto off = [&](double ratio) {
    Doubles out = in;
    out.back() += ratio * limit * rms;
    return out;
  };
  for (const Row& row : rows) {
    CAPTURE(row.near);
    CAPTURE(row.ratio);
    Recorded reference("relu", DType::f32, {kCount}, in, off(row.near));
    Recorded candidate("relu", DType::f32, {kCount}, in, off(row.ratio));
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == row.state);
    if (row.state == Told::unknown) {
      CHECK(found.reason == fmt::format("relu is right within {:.3g}, too coarse to tell", limit));
      continue;
    }
    CHECK(found.clear == row.clear);
    CHECK(found.op == "relu");
    CHECK(found.reason.empty());
    CHECK_FALSE(found.sampled);
    REQUIRE(found.inputs.size() == 1);
    CHECK(found.inputs[0].name == "m/input.0");
    if (row.ratio == 0) CHECK(found.limit == doctest::Approx(5 * 0x1p-23).epsilon(1e-9));
    if (row.ratio == 0) continue;
    CHECK(found.index == kCount - 1);
    CHECK(found.error == doctest::Approx(row.ratio * limit).epsilon(1e-4));
    CHECK(found.limit == doctest::Approx(row.part * limit).epsilon(1e-9));
  }
  Recorded reference("relu", DType::f32, {kCount}, in, off(1.1));
  Recorded candidate("relu", DType::f32, {kCount}, in, in);
  CHECK(judged(reference, candidate).reason ==
        "the reference's own is not what relu gives of its inputs");
}

TEST_CASE("limits by type, op and additions, of all, of a row, of an element") {
  enum class Wrong : std::uint8_t { all, row, element };
  struct Row {
    const char* op;
    DType dtype;
    Wrong wrong;
    double limit;
  };
  const double f32 = 0x1p-23, bf16 = 0x1p-7, f16 = 0x1p-10;
  const Row rows[] = {
      {"relu", DType::f32, Wrong::all, 5 * f32},
      {"relu", DType::f32, Wrong::row, 2 * 5 * f32},
      {"relu", DType::f32, Wrong::element, 4 * 5 * f32},
      {"gelu", DType::f32, Wrong::all, 2 * 5 * f32},
      {"linear", DType::f32, Wrong::all, 8 * f32},  // of 16 products
      {"relu", DType::bf16, Wrong::all, 4 * bf16},
      {"relu", DType::bf16, Wrong::element, 4 * 4 * bf16},
      {"gelu", DType::bf16, Wrong::all, 5 * bf16},
      {"relu", DType::f16, Wrong::all, 4 * f16},
      {"linear", DType::bf16, Wrong::all, 4 * bf16},
  };
  constexpr std::int64_t kRows = 64, kWidth = 16;
  const Doubles in(kRows * kWidth, 64);
  Doubles unit(kWidth * kWidth, 0);
  for (std::size_t i = 0; i < kWidth; ++i) unit[i * (kWidth + 1)] = 1;
  for (const Row& row : rows) {
    INFO(std::string(row.op), " ", std::string(name(row.dtype)));
    Doubles out = in;
    const std::size_t begin = row.wrong == Wrong::all ? 0 : 3 * kWidth;
    const std::size_t end = row.wrong == Wrong::all   ? out.size()
                            : row.wrong == Wrong::row ? begin + kWidth
                                                      : begin + 1;
    for (std::size_t i = begin; i < end; ++i) out[i] += 2 * row.limit * 64;
    const bool weighs = std::string(row.op) == "linear";
    const auto weight = weighs ? std::optional(unit) : std::nullopt;
    Recorded reference(row.op, row.dtype, {kRows, kWidth}, in, in, {}, weight);
    Recorded candidate(row.op, row.dtype, {kRows, kWidth}, in, out, {}, weight);
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == Told::wrong);
    CHECK(found.limit == doctest::Approx(row.limit).epsilon(1e-9));
    CHECK(found.error == doctest::Approx(2 * row.limit).epsilon(1e-2));
  }
}

TEST_CASE("elements that are held to their own size, and how little is clearly wrong") {
  struct Row {
    const char* op;
    DType dtype;
    Kind kind;
    bool held;
  };
  const Row rows[] = {
      {"relu", DType::bf16, Kind::output, true},      {"relu", DType::f16, Kind::output, true},
      {"relu", DType::f32, Kind::output, false},      {"linear", DType::bf16, Kind::output, false},
      {"relu", DType::bf16, Kind::grad_input, false}, {"conv", DType::bf16, Kind::output, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.op), " ", std::string(name(row.dtype)));
    Recorded made(row.op, row.dtype, {1}, {}, {1});
    made.output().kind = row.kind;
    CHECK(held_by_size(made.output()) == row.held);
  }
  Tensor bare;
  bare.kind = Kind::output;
  bare.dtype = DType::bf16;
  CHECK_FALSE(held_by_size(bare));
  CHECK(least_clear(DType::bf16) == doctest::Approx(0.4 * 4 * 0x1p-7));
  CHECK(least_clear(DType::f16) == doctest::Approx(0.4 * 4 * 0x1p-10));
  CHECK(least_clear(DType::f32) == doctest::Approx(0.4 * 5 * 0x1p-23));

  // A small element is off by its own size; of the reference, too, and then it is not held to it.
  const Doubles in = {64, 64, 64, 0.5};
  Doubles out = in;
  out[3] = 1;
  for (const bool both : {false, true}) {
    Recorded reference("relu", DType::bf16, {4}, in, both ? out : in);
    Recorded candidate("relu", DType::bf16, {4}, in, out);
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == (both ? Told::right : Told::wrong));
    CHECK(found.index == 3);
  }
}

TEST_CASE("the element that is named is the worst by the test that decides") {
  const Doubles in = {64, 64, 64, 0.5};
  struct Row {
    Doubles out;
    std::int64_t index;
    double error;
  };
  // Small errors of large elements, a large one of a small element; and the reverse.
  const Row rows[] = {{{64.5, 64, 64, 0.75}, 3, 0.5}, {{96, 96, 96, 1}, 0, 0.5}};
  for (const Row& row : rows) {
    Recorded reference("relu", DType::bf16, {4}, in, in);
    Recorded candidate("relu", DType::bf16, {4}, in, row.out);
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == Told::wrong);
    CHECK(found.index == row.index);
    CHECK(found.error == doctest::Approx(row.error).epsilon(1e-3));
  }
}

TEST_CASE("the coarsest type of a call sets its limit") {
  const Doubles in(8, 64), out(8, 68);
  Recorded reference("relu", DType::f32, {8}, in, in), candidate("relu", DType::f32, {8}, in, out);
  CHECK(judged(reference, candidate).limit == doctest::Approx(5 * 0x1p-23));
  for (Recorded* side : {&reference, &candidate}) {
    side->input().dtype = DType::bf16;
    side->input().pieces = {side->piece(kNoRank, in, {}, DType::bf16)};
  }
  CHECK(judged(reference, candidate).limit == doctest::Approx(4 * 0x1p-7));
}

TEST_CASE("numbers whose squares are more than a double holds are not judged") {
  for (const double size : {1e150, 1e160}) {
    CAPTURE(size);
    const Doubles in = {size, size}, out = {size, 2 * size};
    Recorded reference("relu", DType::f64, {2}, in, in);
    Recorded candidate("relu", DType::f64, {2}, in, out);
    CHECK(judged(reference, candidate).state == (size < 1e155 ? Told::wrong : Told::unknown));
    Recorded small("relu", DType::f64, {2}, {1, 1}, {1, 1});
    CHECK(judged(small, candidate).state == (size < 1e155 ? Told::wrong : Told::unknown));
  }
}

TEST_CASE("the reference's attributes count, and what is stated otherwise is said") {
  const double e = std::exp(1.0), e2 = std::exp(2.0);
  const Doubles in = {0, 1}, once = {1 / (1 + e), e / (1 + e)},
                twice = {1 / (1 + e2), e2 / (1 + e2)};
  Recorded reference("softmax", DType::f32, {2}, in, once, {{"scale", "1"}});
  Recorded same("softmax", DType::f32, {2}, in, once, {{"scale", "2"}});
  Recorded other("softmax", DType::f32, {2}, in, twice, {{"scale", "2"}});
  CHECK(judged(reference, same).state == Told::right);
  const Recomputed found = judged(reference, other);
  CHECK(found.state == Told::wrong);
  CHECK(found.remark == "scale 2, the reference 1");
  Recorded left("conv", DType::f32, {2}, in, once, {{"scale", "1"}});
  Recorded right("conv", DType::f32, {2}, in, once, {{"scale", "2"}});
  CHECK(judged(left, right).remark == "scale 2, the reference 1");  // though it cannot be told
}

TEST_CASE("why nothing is told") {
  const Doubles in = {1, 2}, out = {3, 5};
  const auto reason = [&](const char* op, const Doubles& left, const Doubles& right,
                          DType dtype = DType::f32, std::string other = {}) {
    Recorded reference(op, dtype, {2}, left, in);
    Recorded candidate(other.empty() ? op : other, dtype, {2}, right, out);
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == Told::unknown);
    return found.reason;
  };
  CHECK(reason("conv", in, in) == "there is no formula for conv");
  CHECK(reason("relu", in, in, DType::f32, "conv") == "there is no formula for conv");
  CHECK(reason("", in, in) == "the dump does not name its op");
  CHECK(reason("relu", {}, in) == "not all that went into relu was dumped");
  CHECK(reason("relu", in, {}) == "what went into relu was dumped in another form");
  CHECK(reason("relu", in, in, DType::i32) == "the dump does not have all of its values");
  Recorded reference("relu", DType::f32, {2}, in, in), candidate("relu", DType::f32, {2}, in, out);
  Recorded bare("relu", DType::f32, {2}, in, out), hashed("relu", DType::f32, {2}, in, out);
  bare.input().stored = hashed.output().stored = false;
  CHECK(judged(bare, candidate).reason == "not all that went into relu was dumped");
  CHECK(judged(reference, hashed).reason ==
        "the dump keeps statistics or a hash in place of values");
  const Recomputed stopped = judged(reference, candidate, {}, [] { return true; });
  CHECK(stopped.state == Told::unknown);
  CHECK(stopped.reason.empty());
}

TEST_CASE("ranks that hold a wrong part are named, of 64 at most") {
  const Doubles in = {1, 2, 3, 4}, wrong = {1, 2, 3, 5};
  const Box left{{0}, {2}}, right{{2}, {2}};
  Recorded reference("relu", DType::f32, {4}, in, in);
  Recorded candidate("relu", DType::f32, {4}, in, wrong);
  CHECK(judged(reference, candidate).ranks.empty());
  Tensor& made = candidate.output();
  made.pieces = {candidate.piece(2, {1, 2}, left), candidate.piece(5, {3, 5}, right)};
  CHECK(judged(reference, candidate).ranks == std::vector<std::int32_t>{5});
  CHECK(judged(candidate, candidate).state == Told::unknown);  // wrong already
  made.replicas = {candidate.piece(7, {3, 5}, right), candidate.piece(8, {1, 2}, left)};
  CHECK(judged(reference, candidate).ranks == std::vector<std::int32_t>{5, 7});
  for (const std::int32_t ranks : {64, 65}) {
    const Doubles many(static_cast<std::size_t>(ranks), 1);
    Recorded right_one("relu", DType::f32, {ranks}, many, many);
    Recorded wrong_one("relu", DType::f32, {ranks}, many, many);
    wrong_one.output().pieces.clear();
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const double value = rank == 3 ? 2 : 1;
      wrong_one.output().pieces.push_back(wrong_one.piece(rank, {value}, Box{{rank}, {1}}));
    }
    const Recomputed found = judged(right_one, wrong_one);
    CHECK(found.state == Told::wrong);
    CHECK(found.ranks ==
          (ranks == 64 ? std::vector<std::int32_t>{3} : std::vector<std::int32_t>{}));
  }
}

TEST_CASE("where copies of what went in differ, each rank is held to its own") {
  const Doubles in = {1, 2}, own = {1, 3}, wrong = {1, 4};
  struct Row {
    const char* what;
    Doubles first, second;
    Told state;
    std::vector<std::int32_t> ranks;
  };
  const Row rows[] = {
      {"each made its own", in, own, Told::right, {}},
      {"one made the other's", in, in, Told::wrong, {1}},
      {"the first did", own, own, Told::wrong, {0}},
      {"both are wrong", wrong, wrong, Told::wrong, {0, 1}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Recorded reference("relu", DType::f32, {2}, in, in);
    Recorded candidate("relu", DType::f32, {2}, in, row.first);
    candidate.input().pieces[0].rank = candidate.output().pieces[0].rank = 0;
    candidate.input().replicas = {candidate.piece(1, own)};
    candidate.output().replicas = {candidate.piece(1, row.second)};
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == row.state);
    CHECK(found.ranks == row.ranks);
    CHECK_FALSE(found.turned_bit);
    CHECK(judged(candidate, candidate).state ==
          (row.state == Told::right ? Told::right : Told::unknown));
    candidate.output().pieces[0].rank = kNoRank;  // nobody's
    candidate.output().replicas.clear();
    CHECK(judged(reference, candidate).state == Told::unknown);
  }
  // Of a weight no copies differ; of what it is multiplied with they do.
  const Doubles unit = {1, 0, 0, 1};
  Recorded reference("linear", DType::f32, {1, 2}, in, in, {}, unit);
  Recorded candidate("linear", DType::f32, {1, 2}, in, in, {}, unit);
  candidate.tensors[1].pieces[0].rank = candidate.output().pieces[0].rank = 0;
  candidate.tensors[1].replicas = {candidate.piece(1, own)};
  candidate.output().replicas = {candidate.piece(1, own)};
  CHECK(judged(reference, candidate).state == Told::right);
  candidate.output().replicas = {candidate.piece(1, in)};
  CHECK(judged(reference, candidate).ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("each of 16 ranks is held to its own copies, of more none") {
  const Doubles in = {1, 2}, own = {1, 3};
  for (const std::int32_t ranks : {16, 17}) {
    Recorded reference("relu", DType::f32, {2}, in, in);
    Recorded candidate("relu", DType::f32, {2}, in, in);
    candidate.input().pieces[0].rank = candidate.output().pieces[0].rank = 0;
    for (std::int32_t rank = 1; rank < ranks; ++rank) {
      candidate.input().replicas.push_back(candidate.piece(rank, own));
      candidate.output().replicas.push_back(candidate.piece(rank, own));
    }
    CHECK(judged(reference, candidate).state == (ranks == 16 ? Told::right : Told::unknown));
  }
}

TEST_CASE("of what is too large some ranges are made, and no bit is named") {
  constexpr std::int64_t kCount = 400000;  // 16 multiplications each: 5e6 of 6.4e6 are spent
  const Doubles in(kCount, 1), right(kCount, 1 / (1 + std::exp(-1)));
  Doubles out = right;
  out.front() = -out.front();
  Recorded reference("sigmoid", DType::f32, {kCount}, in, right);
  Recorded candidate("sigmoid", DType::f32, {kCount}, in, out);
  const Recomputed some = judged(reference, candidate, 4.0 * kCount + 1);
  CHECK(some.state == Told::wrong);
  CHECK(some.sampled);
  CHECK_FALSE(some.turned_bit);
  const Recomputed all = judged(reference, candidate);
  CHECK_FALSE(all.sampled);
  CHECK(all.turned_bit == 31);
}

TEST_CASE("one turned bit that is all that is wrong is named") {
  struct Row {
    const char* what;
    std::vector<std::pair<std::size_t, int>> turned;
    std::optional<int> bit;
  };
  const Row rows[] = {
      {"the sign", {{2, 31}}, 31},
      {"of the exponent", {{2, 30}}, 30},
      {"of the mantissa", {{2, 22}}, 22},
      {"8 x what rounding may do", {{2, 6}}, 6},
      {"less", {{2, 5}}, {}},  // 32 eps: beyond 20, but within 40
      {"two of one element", {{2, 22}, {2, 20}}, {}},
      {"of two elements", {{2, 22}, {3, 22}}, {}},
  };
  const Doubles in(64, 1);
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Doubles out = in;
    for (const auto& [at, bit] : row.turned) {
      const std::uint64_t code = code_of(DType::f32, out[at]) ^ (std::uint64_t{1} << bit);
      out[at] = value_of(DType::f32, code);
    }
    Recorded reference("relu", DType::f32, {64}, in, in);
    Recorded candidate("relu", DType::f32, {64}, in, out);
    const Recomputed found = judged(reference, candidate);
    CHECK(found.state == Told::wrong);
    CHECK(found.turned_bit == row.bit);
  }
}

TEST_CASE("a budget counts what is read, copies too") {
  const Doubles in(1000, 1);
  for (const bool copies : {false, true}) {
    Recorded reference("relu", DType::f32, {1000}, in, in);
    Recorded candidate("relu", DType::f32, {1000}, in, in);
    for (Recorded* side : {&reference, &candidate}) {
      if (copies) side->input().replicas = {side->piece(1, in)};
    }
    const double read = copies ? 6000 : 4000;
    CHECK(judged(reference, candidate, read).state == Told::unknown);
    CHECK(judged(reference, candidate, read + 1).state == Told::right);
    const Parameters none;
    const Graph left(reference.tensors, none, 1), right(candidate.tensors, none, 1);
    Recompute twice(left, right, {}, 2 * read + 1);  // the first takes more than it reads
    CHECK(twice.judge(reference.output(), candidate.output(), -1).state == Told::right);
    CHECK(twice.judge(reference.output(), candidate.output(), -1).state == Told::unknown);
  }
}

}  // namespace
}  // namespace ttcheck::recompute
