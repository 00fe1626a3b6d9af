// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/msprobe/calls.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>

namespace ttcheck::formats {
namespace {

using Arguments = MsprobeCalls::Arguments;

/// Items of a dump, and what is told of them.
struct Items {
  MsprobeItem& add(const std::string& key, const std::string& slot, const Shape& shape,
                   bool floats = true) {
    const std::string& kept = texts.emplace_back(key);
    const std::string& own = texts.emplace_back(slot);
    const std::string& name = texts.emplace_back(key + "/" + slot);
    const MsprobeOp& op = ops.emplace_back(*parse_msprobe_op(key));
    MsprobeItem& item =
        items.emplace_back(MsprobeItem{kept, &op, own, name, &shapes.emplace_back(shape), floats});
    calls.add(item);
    return item;
  }

  TraceRecord told(const MsprobeItem& item) const {
    TraceRecord record;
    calls.tell(item, record);
    return record;
  }

  std::deque<std::string> texts;
  std::deque<MsprobeOp> ops;
  std::deque<Shape> shapes;
  std::deque<MsprobeItem> items;
  MsprobeCalls calls;
};

TEST_CASE("arguments by place and by name, weights and numbers") {
  const Arguments numbers = {{"input.1.0", "8"}, {"kwargs.eps", "1e-05"}, {"kwargs.other", "3"}};
  Items dump;
  const std::string key = "Functional.layer_norm.0.forward";
  dump.add(key, "input.0", {2, 8});
  dump.add(key, "kwargs.weight", {8});
  dump.add(key, "input.3", {8});
  const MsprobeItem& output = dump.add(key, "output.0", {2, 8});
  dump.calls.add(key, numbers);
  const TraceRecord record = dump.told(output);
  CHECK(record.op == "layernorm");
  CHECK(record.attrs ==
        Arguments{{"normalized_shape.0", "8"}, {"eps", "1e-05"}, {"kwargs.other", "3"}});
  REQUIRE(record.call);
  CHECK(record.call->arguments == std::vector<std::string>{key + "/input.0"});
  CHECK(record.call->weight == key + "/kwargs.weight");
  CHECK(record.call->bias == key + "/input.3");
}

TEST_CASE("a gradient is of the argument at its place, or of the only one of its shape") {
  Items dump;
  dump.add("Functional.embedding.0.forward", "input.0", {2, 5}, false);
  dump.add("Functional.embedding.0.forward", "input.1", {11, 8});
  dump.add("Functional.embedding.0.backward", "input.0", {2, 5, 8});
  const MsprobeItem& table = dump.add("Functional.embedding.0.backward", "output.0", {11, 8});
  const TraceRecord record = dump.told(table);
  REQUIRE(record.call);
  CHECK(record.call->part == OpPart::weight);
  CHECK(record.call->gradients ==
        std::vector<std::string>{"Functional.embedding.0.backward/input.0"});

  dump.add("Functional.linear.0.forward", "input.0", {2, 5, 8});
  dump.add("Functional.linear.0.forward", "input.1", {3, 8});
  dump.add("Functional.linear.0.backward", "input.0", {2, 5, 3});
  const MsprobeItem& flat = dump.add("Functional.linear.0.backward", "output.0", {10, 8});
  CHECK_FALSE(dump.told(flat).call);
}

TEST_CASE("modules have weights of their own, and gradients of them") {
  Items dump;
  const std::string module = "Module.layers.0.norm.LlamaRMSNorm.";
  dump.add(module + "forward.0", "input.0", {2, 8});
  dump.add(module + "forward.0", "parameters.weight", {8});
  dump.add(module + "backward.0", "input.0", {2, 8});
  const MsprobeItem& given = dump.add(module + "backward.0", "output.0", {2, 8});
  const MsprobeItem& weight = dump.add(module + "parameters_grad.0", "weight", {8});
  CHECK(dump.told(given).op == "rmsnorm");
  REQUIRE(dump.told(given).call);
  CHECK(dump.told(given).call->part == OpPart::argument);
  CHECK(dump.told(given).call->weight == module + "forward.0/parameters.weight");
  REQUIRE(dump.told(weight).call);
  CHECK(dump.told(weight).call->part == OpPart::weight);
}

TEST_CASE("words of a direction within a module's name are its own") {
  const Arguments numbers = {{"kwargs.scale", "2"}}, others = {{"kwargs.scale", "1"}};
  Items dump;
  for (const char* inner : {"backward_norm", "parameters_grad", "forward"}) {
    const std::string module = std::string("Module.enc.") + inner + ".LlamaRMSNorm.";
    dump.add(module + "forward.0", "input.0", {2, 8});
    const MsprobeItem& output = dump.add(module + "forward.0", "output.0", {2, 8});
    dump.calls.add(output.key, numbers);
    dump.add(module + "backward.0", "input.0", {2, 8});
    const MsprobeItem& given = dump.add(module + "backward.0", "output.0", {2, 8});
    for (const MsprobeItem* item : {&output, &given}) {
      const TraceRecord record = dump.told(*item);
      CHECK(record.attrs == numbers);
      REQUIRE(record.call);
      CHECK(record.call->arguments == std::vector<std::string>{module + "forward.0/input.0"});
    }
  }
  dump.calls.add("Module.enc.forward_norm.LlamaRMSNorm.forward.0", others);
  const MsprobeItem& again =
      dump.add("Module.enc.backward_norm.LlamaRMSNorm.forward.0", "output.1", {2, 8});
  CHECK(dump.told(again).attrs == numbers);
}

TEST_CASE("what is not known keeps its name and its places") {
  const Arguments numbers = {{"input.1", "2"}};
  Items dump;
  const MsprobeItem& output = dump.add("Torch.chunk.0.forward", "output.0", {2});
  dump.calls.add("Torch.chunk.0.forward", numbers);
  const TraceRecord record = dump.told(output);
  CHECK(record.op == "chunk");
  CHECK(record.attrs == numbers);
  CHECK_FALSE(record.call);
}

}  // namespace
}  // namespace ttcheck::formats
