// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/reasons.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>

namespace ttcheck::recompute {
namespace {

/// Records that makers point to.
class Records {
 public:
  const Tensor& add(const std::string& name, Kind kind, const std::string& op,
                    std::vector<std::pair<std::string, std::string>> attrs = {}) {
    Tensor& tensor = tensors_.emplace_back();
    tensor.identity = {name, Phase::forward, 0, 0};
    tensor.kind = kind;
    auto trace = std::make_shared<TraceRecord>();
    trace->op = op;
    trace->attrs = std::move(attrs);
    tensor.trace = std::move(trace);
    return tensor;
  }

  Maker maker(const std::string& module, const std::string& op, OpPart part = OpPart::argument,
              std::vector<std::pair<std::string, std::string>> attrs = {}) {
    return {
        &add(module + "/output.0", Kind::output, op, std::move(attrs)), part, 0, {}, {}, {}, {}};
  }

  /// Its format says that it has a weight.
  Maker weighted(const std::string& op, const Tensor* weight, const std::string& name = "w") {
    Maker maker = this->maker("m", op, OpPart::output);
    auto trace = std::make_shared<TraceRecord>(*maker.record->trace);
    trace->call = OpCall{OpPart::output, 0, {}, name, "", {}};
    tensors_.back().trace = std::move(trace);
    maker.weight = weight;
    return maker;
  }

 private:
  std::deque<Tensor> tensors_;
};

TEST_CASE("calls are named by their ops, backward ones by their modules, too") {
  Records of;
  struct Row {
    std::vector<Maker> makers;
    std::string words;
  };
  const Row rows[] = {
      {{of.maker("m", "silu", OpPart::output)}, "silu"},
      {{of.maker("m", "silu")}, "backward of silu in m"},
      {{of.maker("m", "silu", OpPart::weight)}, "backward of silu in m"},
      {{of.maker("n", "mul"), of.maker("a.b", "add")}, "backward of add in a.b, mul in n"},
      {{of.maker("m", "silu"), of.maker("m", "silu")}, "backward of silu in m"},
      {{of.maker("c", "op"), of.maker("b", "op"), of.maker("a", "op")},
       "backward of op in a, op in b, op in c"},
      {{of.maker("c", "op"), of.maker("b", "op"), of.maker("a", "op"), of.maker("d", "op")},
       "backward of op in a, op in b, op in c and 1 more"},
      {{of.maker("c", "op"), of.maker("e", "op"), of.maker("b", "op"), of.maker("a", "op"),
        of.maker("d", "op")},
       "backward of op in a, op in b, op in c and 2 more"},
  };
  for (const Row& row : rows) {
    INFO(row.words);
    CHECK(words_of(row.makers) == row.words);
  }
}

TEST_CASE("attributes that calls state apart") {
  Records of;
  const Tensor bare;
  const Tensor& left = of.add("m/output.0", Kind::output, "rmsnorm", {{"eps", "1"}});
  const Tensor& right = of.add("m/output.0", Kind::output, "rmsnorm", {{"eps", "2"}});
  CHECK(stated_apart(left, right) == "eps 2, the reference 1");
  CHECK(stated_apart(left, left).empty());
  CHECK(stated_apart(bare, right).empty());
  CHECK(stated_apart(left, bare).empty());
  const auto with = [&](const std::string& key, const std::string& text) {
    return of.maker("m", "op", OpPart::argument, {{key, text}});
  };
  CHECK(remark_of({with("a", "1"), with("b", "1")}, {with("a", "1"), with("b", "2")}) ==
        "b 2, the reference 1");
  CHECK(remark_of({with("b", "1"), with("a", "1")}, {with("b", "2"), with("a", "3")}) ==
        "a 3, the reference 1");  // the same whatever the order of the calls
  CHECK(remark_of({with("a", "1")}, {with("a", "2")}) == "a 2, the reference 1");
  CHECK(remark_of({with("a", "1")}, {with("a", "1")}).empty());
  CHECK(remark_of({with("a", "1")}, {}).empty());
  CHECK(remark_of({}, {with("a", "1")}).empty());
}

TEST_CASE("why no call is known") {
  struct Row {
    const char* what;
    Kind kind;
    std::string op;
    std::vector<std::string> inputs;
    bool traced;
    std::string words;
  };
  const std::string unnamed = "the dump does not name its op";
  const std::string calls = "the calls that it comes from are not in the dump";
  const Row rows[] = {
      {"an op without a formula", Kind::output, "conv", {}, true, "there is no formula for conv"},
      {"of a loss", Kind::loss, "ctc", {}, true, "there is no formula for ctc"},
      {"an op with one", Kind::output, "silu", {}, true, unnamed},
      {"no op", Kind::output, "", {}, true, unnamed},
      {"nothing of it", Kind::loss, "", {}, false, unnamed},
      {"the gradient of an argument", Kind::grad_input, "", {}, false, calls},
      {"of a parameter", Kind::grad, "", {}, true, calls},
      {"of an output, that states what it comes from", Kind::grad_output, "", {"x"}, true, calls},
      {"that states nothing", Kind::grad_output, "", {}, true, ""},
      {"of which nothing is known", Kind::grad_output, "", {}, false, ""},
      {"what went in", Kind::input, "conv", {"x"}, true, ""},
      {"a weight", Kind::weight, "", {}, true, ""},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Tensor record;
    record.kind = row.kind;
    if (row.traced) {
      auto trace = std::make_shared<TraceRecord>();
      trace->op = row.op;
      trace->inputs = row.inputs;
      record.trace = std::move(trace);
    }
    CHECK(without_maker(record) == row.words);
  }
}

TEST_CASE("why calls cannot be bound") {
  Records of;
  const Tensor weight;
  const Maker whole = of.weighted("linear", &weight), plain = of.maker("m", "silu");
  const Maker bare = of.weighted("linear", nullptr);
  const Maker weightless = of.weighted("rmsnorm", nullptr, "");
  const Maker unknown = of.maker("m", "conv");
  const Tensor& kept = of.add("m/output.0", Kind::output, "gelu");
  Tensor hash = kept;
  hash.stored = false;
  const Maker hashed = {&hash, OpPart::output, 0, {}, {}, {}, {}};
  CHECK(lacks_weight({bare}));
  CHECK(lacks_weight({whole, plain, bare}));
  for (const Maker& one : {whole, plain, weightless, unknown}) CHECK_FALSE(lacks_weight({one}));
  CHECK_FALSE(lacks_weight({}));
  struct Row {
    std::vector<Maker> reference, candidate;
    std::string words;
  };
  const std::string values = "the dump does not have all of its values";
  const std::string stats = "the dump keeps statistics or a hash in place of values";
  const Row rows[] = {
      {{bare}, {whole}, "the dump has no weight of linear"},
      {{whole}, {bare}, "the dump has no weight of linear"},
      {{unknown}, {plain}, "there is no formula for conv"},
      {{plain}, {plain, unknown}, "there is no formula for conv"},
      {{hashed}, {plain}, stats},
      {{plain}, {hashed}, stats},
      {{hashed}, {bare}, stats},  // the reference's reason first
      {{plain}, {plain}, values},
      {{whole}, {weightless}, values},
  };
  for (const Row& row : rows) {
    INFO(row.words);
    CHECK(unbound(row.reference, row.candidate) == row.words);
  }
}

}  // namespace
}  // namespace ttcheck::recompute
