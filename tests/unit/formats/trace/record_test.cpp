// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/record.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace ttcheck::formats {
namespace {

Record stored(DType dtype = DType::f32, Shape shape = {2, 3}) {
  Record record;
  record.dtype = record.piece.dtype = dtype;
  record.shape = std::move(shape);
  return record;
}

ParsedRecord parse(std::string_view json, Record record = stored()) {
  DimsCache dims;
  return parse_trace_record(json, std::move(record), {"file", {}, "key"}, dims);
}

std::string message(std::string_view json, Record record = stored()) {
  try {
    static_cast<void>(parse(json, std::move(record)));
  } catch (const Error& error) {
    CHECK(error.where() == Where{"file", {}, "key"});
    return error.message();
  }
  return "accepted";
}

/// A record with the required fields and `more`.
std::string with(std::string_view more) {
  return R"({"seq":7,"phase":"forward","module":"layers.0.mlp","kind":"output")" +
         std::string(more) + "}";
}

TEST_CASE("a record names its tensor and place") {
  const ParsedRecord parsed = parse(with(
      R"(,"slot":1,"microbatch":2,"call":3,"dims":"b h[tp]","shape":[2,6],"op":"linear","attrs":{"eps":1e-5,"h":[1, 2]},)"
      R"("inputs":["a/output.0","forward:b/output.0"],"owner":"w","mine":{"x":1})"));
  const Record& record = parsed.record;
  CHECK(record.identity == Identity{"layers.0.mlp/output.1", Phase::forward, 2, 3});
  CHECK(parsed.call_given);
  CHECK(record.kind == Kind::output);
  CHECK(record.logical == Shape{2, 6});
  REQUIRE(record.placement);
  CHECK(*record.placement == parse_dims("b h[tp]"));
  CHECK(record.stored);
  CHECK(record.trace->seq == 7);
  CHECK(record.trace->op == "linear");
  CHECK(record.trace->attrs ==
        std::vector<std::pair<std::string, std::string>>{{"eps", "1e-5"}, {"h", "[1, 2]"}});
  CHECK(record.trace->inputs == std::vector<std::string>{"a/output.0", "forward:b/output.0"});
  CHECK(record.trace->owner == "w");
  CHECK(record.trace->other ==
        std::vector<std::pair<std::string, std::string>>{{"mine", R"({"x":1})"}});
}

TEST_CASE("fields left out have their defaults, and null is left out") {
  const ParsedRecord parsed = parse(with(R"(,"slot":null,"dims":null)"));
  CHECK(parsed.record.identity == Identity{"layers.0.mlp/output.0", Phase::forward, 0, 0});
  CHECK(!parsed.call_given);
  CHECK(!parsed.record.placement);
  CHECK(!parsed.record.logical);
}

TEST_CASE("slots compare as text") {
  CHECK(parse(with(R"(,"slot":"weight")")).record.identity.name == "layers.0.mlp/output.weight");
  CHECK(parse(with(R"(,"slot":12)")).record.identity.name ==
        parse(with(R"(,"slot":"12")")).record.identity.name);
}

TEST_CASE("phases that accumulate ignore the micro-batch") {
  for (const char* phase : {"sync", "clip", "optimizer", "state"}) {
    const std::string json =
        std::string(R"({"seq":1,"module":"m","kind":"grad","microbatch":3,"phase":")") + phase +
        "\"}";
    CHECK(parse(json).record.identity.microbatch == 0);
  }
}

TEST_CASE("where dims name mb, micro-batches are coordinates") {
  for (const char* dims : {"b[mb] h", "b h # mb:partial", "flat[mb]", "b h # mb:replicated"}) {
    CAPTURE(dims);
    const Record record =
        parse(with(std::string(R"(,"microbatch":2,"dims":")") + dims + "\"")).record;
    CHECK(record.identity.microbatch == 0);
    CHECK(record.at.at("mb") == 2);
  }
  CHECK(parse(with(R"(,"microbatch":2,"dims":"b[dp] h")")).record.at.count("mb") == 0);
}

TEST_CASE("bfloat16 and float8 are carried by unsigned integers") {
  const Record bf16 = parse(with(R"(,"dtype":"bfloat16")"), stored(DType::u16)).record;
  CHECK(bf16.dtype == DType::bf16);
  CHECK(bf16.piece.dtype == DType::bf16);
  CHECK(parse(with(R"(,"dtype":"float8_e5m2")"), stored(DType::u8)).record.dtype == DType::f8_e5m2);
  CHECK(parse(with(R"(,"dtype":"bfloat16")"), stored(DType::bf16)).record.dtype == DType::bf16);
  CHECK(parse(with(R"(,"dtype":"float32")")).record.dtype == DType::f32);
  CHECK(message(with(R"(,"dtype":"bfloat16")")) ==
        "record field `dtype` is bfloat16, which f32 does not carry");
  CHECK(message(with(R"(,"dtype":"float8_e4m3fn")"), stored(DType::u16)) ==
        "record field `dtype` is float8_e4m3fn, which u16 does not carry");
}

TEST_CASE("hash and stats stand for bytes that were not stored") {
  const Record record =
      parse(
          with(
              R"(,"hash":"xxh3:0123456789abcdef","stats":{"min":-1,"max":Infinity,"l2":NaN,"nan":2,"inf":1,"numel":6},)"
              R"("shape_local":[2,3])"),
          stored(DType::f32, {0}))
          .record;
  CHECK(!record.stored);
  CHECK(record.shape == Shape{2, 3});
  CHECK(record.trace->hash == "xxh3:0123456789abcdef");
  REQUIRE(record.trace->stats);
  CHECK(record.trace->stats->min == -1);
  CHECK(std::isinf(record.trace->stats->max));
  CHECK(std::isnan(record.trace->stats->l2.value()));
  CHECK(record.trace->stats->nan == 2);
  CHECK(record.trace->stats->numel == 6);
  CHECK(parse(with(R"(,"shape_local":[2,3])")).record.stored);
  CHECK(message(with(R"(,"shape_local":[2,4])")) ==
        "record field `shape_local` differs from the stored array's shape");
  CHECK(message(with(R"(,"hash":"md5:0123456789abcdef")"))
            .starts_with("record field `hash` is neither xxh3:"));
}

TEST_CASE("what is missing or of another type is refused by name") {
  CHECK(message(R"({"phase":"forward","module":"m","kind":"output"})") ==
        "record field `seq` is missing");
  CHECK(message(R"({"seq":1,"module":"m","kind":"output"})") == "record field `phase` is missing");
  CHECK(message(R"({"seq":1,"phase":"forward","kind":"output"})") ==
        "record field `module` is missing");
  CHECK(message(R"({"seq":1,"phase":"forward","module":"m"})") == "record field `kind` is missing");
  CHECK(message(R"({"seq":1,"phase":"sideways","module":"m","kind":"output"})") ==
        "record field `phase` is no phase of a step: sideways");
  CHECK(message(R"({"seq":1,"phase":"forward","module":"m","kind":"thing"})") ==
        "record field `kind` is no kind of tensor: thing");
  CHECK(message(R"({"seq":"1","phase":"forward","module":"m","kind":"output"})") ==
        "record field `seq` is no whole number");
  CHECK(message(R"({"seq":-1,"phase":"forward","module":"m","kind":"output"})") ==
        "record field `seq` is negative: -1");
  CHECK(message(with(R"(,"microbatch":4294967296)")) ==
        "record field `microbatch` is too large: 4294967296");
  CHECK(message(with(R"(,"seq2":1,"slot":1.5)")) == "record field `slot` is no string");
  CHECK(message(with(R"(,"shape":[2,-6])")) == "record field `shape` is negative: -6");
  CHECK(message(with(R"(,"shape":[9223372036854775807,3])")) == "product overflows");
  CHECK(message(with(R"(,"inputs":"a")")) == "record field `inputs` is no list");
  CHECK(message(with(R"(,"attrs":[])")) == "record field `attrs` is no object");
  CHECK(message("[]") == "record is no JSON object");
  CHECK(message(with(R"(,"seq":8)")) != "accepted");  // a duplicate key
  CHECK(message(with(R"(,"dims":"b h[")")) != "accepted");
  CHECK(message("{") != "accepted");
}

}  // namespace
}  // namespace ttcheck::formats
