// SPDX-License-Identifier: Apache-2.0
#include "core/align/meeting.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::align {
namespace {

/// A record, and whether it was paired; nothing: it is in neither list.
struct Recorded {
  std::string name;
  std::int64_t seq = 0;
  std::optional<bool> paired;
  std::int32_t rank = 0;
  Phase phase = Phase::forward;
  std::int32_t microbatch = 0, call = 0;
  std::string base{};  ///< of an op that is named by a counter
};

std::vector<bool> meets(const std::vector<Recorded>& records) {
  std::vector<Tensor> tensors;
  std::vector<std::size_t> met, alone;
  for (const Recorded& one : records) {
    if (one.paired) (*one.paired ? met : alone).push_back(tensors.size());
    Tensor& tensor = tensors.emplace_back();
    tensor.identity = {one.name, one.phase, one.microbatch, one.call};
    auto trace = std::make_shared<TraceRecord>();
    trace->seq = one.seq;
    trace->counted.base = one.base;
    tensor.trace = trace;
    tensor.pieces.emplace_back().rank = one.rank;
  }
  return neighbours_meet(tensors, met, alone);
}

TEST_CASE("what was left alone in between records that were paired") {
  struct Row {
    const char* what;
    std::vector<Recorded> records;
    std::vector<bool> expected;
  };
  using enum Phase;
  const Recorded first = {"a/output.0", 1, true}, last = {"z/output.0", 9, true};
  const auto op = [](const std::string& name, std::int64_t seq) {
    return Recorded{name + "/output.0", seq, false};
  };
  const auto counted = [&](const std::string& base, std::int64_t seq) {
    Recorded made = op(base + ".0", seq);
    made.base = base;
    return made;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, {}},
      {"nothing alone", {first, last}, {}},
      {"all alone", {op("b", 1), op("c", 2)}, {false, false}},
      {"in between", {first, op("b", 2), last}, {true}},
      {"in between by seq, not by place", {last, op("b", 2), first}, {true}},
      {"before the first", {op("b", 0), first, last}, {false}},
      {"after the last", {first, last, op("b", 10)}, {false}},
      {"behind the only one", {first, op("b", 2)}, {false}},
      {"before the only one", {op("b", 2), last}, {false}},
      {"two of one op", {first, op("b", 2), {"b/output.1", 3, false}, last}, {true, true}},
      {"two ops", {first, op("b", 2), op("c", 3), last}, {false, false}},
      {"one each", {first, op("b", 2), {"m/output.0", 3, true}, op("c", 4), last}, {true, true}},
      {"one in neither list between them",
       {first, op("b", 2), {"m/output.0", 3, {}}, last},
       {true}},
      {"on another rank",
       {{"a/output.0", 1, true, 1}, op("b", 2), {"z/output.0", 9, true, 1}},
       {false}},
      {"another phase of an op",
       {first, op("b", 2), {"b/output.0", 3, false, 0, backward}, last},
       {false, false}},
      {"another micro-batch of an op",
       {first, op("b", 2), {"b/output.0", 3, false, 0, forward, 1}, last},
       {false, false}},
      {"another call of an op",
       {first, op("b", 2), {"b/output.0", 3, false, 0, forward, 0, 1}, last},
       {false, false}},
      {"counted ops", {first, counted("b", 2), counted("c", 3), last}, {true, true}},
      {"a counted op and another", {first, counted("b", 2), op("c", 3), last}, {false, false}},
      {"another op and a counted one", {first, op("b", 2), counted("c", 3), last}, {false, false}},
      {"another record of the op was paired",
       {{"b/output.1", 5, true}, {"b/output.0", 6, false}, op("c", 7)},
       {true, false}},
      {"another record of the op was paired on another rank",
       {{"b/output.1", 5, true, 3}, {"b/output.0", 6, false}},
       {true}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(meets(row.records) == row.expected);
  }
}

TEST_CASE("without a trace the order of the file counts") {
  std::vector<Tensor> tensors(3);
  for (std::size_t i = 0; i < 3; ++i) {
    tensors[i].identity.name = std::string(1, static_cast<char>('a' + i));
    tensors[i].order = static_cast<std::int64_t>((i + 1) % 3);  // c, a, b
  }
  using Indices = std::vector<std::size_t>;
  CHECK(neighbours_meet(tensors, Indices{1, 2}, Indices{0}) == std::vector<bool>{true});
  CHECK(neighbours_meet(tensors, Indices{0, 1}, Indices{2}) == std::vector<bool>{false});
}

}  // namespace
}  // namespace ttcheck::align
