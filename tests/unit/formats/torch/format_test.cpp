// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/state.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/model/value_flag.hpp"
#include "formats/objects/known.hpp"
#include "formats/open.hpp"
#include "formats/torch/optimizer.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::formats {
namespace {

using tests::kStorage;
using tests::little;
using tests::one_tensor;
using tests::torch_archive;
using tests::torch_legacy;
using tests::ZipWriter;
using Opened = tests::OpenedTorch;
namespace pickled = tests::pickled;
using namespace std::string_literals;

TEST_CASE("a tensor lies where its storage's member lies") {
  const Opened opened(torch_archive(one_tensor({})));
  const Record* record = opened.record("w");
  REQUIRE(record);
  CHECK(record->dtype == DType::f32);
  CHECK(record->shape == Shape{2, 2});
  CHECK(record->piece.cells.empty());
  std::byte first{};
  record->piece.source->read(record->piece.offset + 5, std::span(&first, 1));
  CHECK(first == std::byte{5});
  CHECK(opened.state.findings.empty());
  CHECK(opened.state.bytes_unclaimed == 0);
}

TEST_CASE("an archive names the file that it was written to") {
  const auto name_in = [](const std::string& bytes) { return Opened(bytes).file->saved_as(); };
  CHECK(name_in(torch_archive(one_tensor({}))) == "x");
  ZipWriter bare;
  bare.add("data.pkl", pickled::whole(one_tensor({})));
  bare.add("data/0", kStorage);
  CHECK(name_in(bare.finish(true)).empty());
  CHECK(name_in(torch_legacy("}", "]", "")).empty());
  CHECK(name_in(pickled::whole("}")).empty());
}

TEST_CASE("views are cells: offset, strides, stride 0") {
  const Opened opened(torch_archive(
      pickled::dict({{"t", pickled::tensor({"FloatStorage", "0", 4, 0, {2, 2}, {1, 2}})},
                     {"row", pickled::tensor({"FloatStorage", "0", 4, 2, {2}, {1}})},
                     {"wide", pickled::tensor({"FloatStorage", "0", 4, 1, {5, 2}, {0, 1}})}})));
  REQUIRE(opened.state.records.size() == 3);
  CHECK(opened.record("t")->piece.cells.at(0).strides == Extents{1, 2});
  CHECK(opened.record("row")->piece.offset == 8);
  CHECK(opened.record("row")->piece.cells.empty());
  CHECK(opened.record("wide")->piece.cells.at(0).strides == Extents{0, 1});
  CHECK(opened.record("wide")->piece.offset == 4);
}

TEST_CASE("a tensor may be conjugated and negated at once") {
  const auto flag_of = [](const std::string& metadata) {
    const std::string id =
        pickled::tuple({pickled::text("storage"), pickled::global("torch", "ComplexFloatStorage"),
                        pickled::text("0"), pickled::text("cpu"), "K\2"});
    const Opened opened(torch_archive(
        pickled::dict({{"w", pickled::call("torch._utils", "_rebuild_tensor_v2",
                                           {id + "Q", "K\0"s, pickled::numbers({2}),
                                            pickled::numbers({1}), "\x89", "}", metadata})}})));
    REQUIRE(opened.record("w"));
    return opened.record("w")->piece.flag;
  };
  CHECK(flag_of("}") == ValueFlag::none);
  CHECK(flag_of(pickled::dict({{"conj", "\x88"}})) == ValueFlag::conjugate);
  CHECK(flag_of(pickled::dict({{"neg", "\x88"}})) == ValueFlag::negate);
  CHECK(flag_of(pickled::dict({{"conj", "\x88"}, {"neg", "\x88"}})) ==
        (ValueFlag::conjugate | ValueFlag::negate));
}

TEST_CASE("one root container is dropped; optimizer state takes the parameter's name") {
  const auto t = [](std::vector<std::int64_t> size) {
    return pickled::tensor(
        {"FloatStorage", "0", 4, 0, size, std::vector<std::int64_t>(size.size(), 0)});
  };
  const std::string state = "}(K\0"s + pickled::dict({{"exp_avg", t({2, 3})}}) + "K\1" +
                            pickled::dict({{"exp_avg", t({7})}}) + "u";
  const std::string groups = pickled::list(
      {pickled::dict({{"lr", "G\x3f\xe0\0\0\0\0\0\0"s}, {"params", pickled::list({"K\0"s})}}),
       pickled::dict({{"lr", "G\x3f\xe0\0\0\0\0\0\0"s}, {"params", pickled::list({"K\1"s})}})});
  const Opened opened(torch_archive(pickled::dict(
      {{"model",
        pickled::dict({{"module._orig_mod.bias", t({7})}, {"module._orig_mod.weight", t({2, 3})}})},
       {"optimizer", pickled::dict({{"state", state}, {"param_groups", groups}})},
       {"rng", t({1})},
       {"epoch", "K\3"}})));
  CHECK(opened.record("bias"));
  CHECK(opened.record("weight"));
  REQUIRE(opened.record("weight@exp_avg"));
  CHECK(opened.record("weight@exp_avg")->kind == Kind::moment1);
  CHECK(opened.record("bias@exp_avg"));
  CHECK(opened.record("rng"));
  CHECK(opened.state.records.size() == 5);
  const Fact* lr = find_fact(opened.state.facts, "optimizer.groups.0.lr");
  REQUIRE(lr);
  CHECK(std::get<double>(lr->value) == 0.5);
  CHECK(std::get<std::int64_t>(find_fact(opened.state.facts, "epoch")->value) == 3);
}

TEST_CASE("moments in factors show the shape of their parameter") {
  const auto t = [](std::vector<std::int64_t> size) {
    return pickled::tensor(
        {"FloatStorage", "0", 4, 0, size, std::vector<std::int64_t>(size.size(), 0)});
  };
  const Opened opened(torch_archive(pickled::dict(
      {{"flat", pickled::dict({{"exp_avg_sq_row", t({3})}, {"exp_avg_sq_col", t({2})}})},
       {"kept", pickled::dict({{"row_var", t({4, 3, 1})}, {"col_var", t({4, 1, 2})}})},
       {"whole", pickled::dict({{"step", t({})}, {"exp_avg", t({3, 2})}})}})));
  const auto pairs = mapping(opened.file->root());
  REQUIRE(pairs);
  CHECK(shape_of_state(*opened.file, (*pairs)[0].second) == Shape{3, 2});
  CHECK(shape_of_state(*opened.file, (*pairs)[1].second) == Shape{4, 3, 2});
  CHECK(shape_of_state(*opened.file, (*pairs)[2].second) == Shape{3, 2});
}

TEST_CASE("a list of optimizers shares the model's parameters out") {
  const auto t = [](std::vector<std::int64_t> size, std::int64_t offset = 0) {
    return pickled::tensor(
        {"FloatStorage", "0", 4, offset, size, std::vector<std::int64_t>(size.size(), 0)});
  };
  const auto optimizer = [&](const std::string& key, const std::vector<std::int64_t>& first) {
    const std::string state =
        "}(K\0"s + pickled::dict({{key, t(first)}}) + "K\1" + pickled::dict({{key, t({2})}}) + "u";
    const std::string group = pickled::dict({{"params", pickled::list({"K\0"s, "K\1"s})}});
    return pickled::dict({{"state", state}, {"param_groups", pickled::list({group})}});
  };
  const Opened opened(torch_archive(pickled::dict(
      {{"state_dict",
        pickled::dict(
            {{"a.w", t({2, 2})}, {"a.b", t({2})}, {"c.w", t({1, 2})}, {"c.b", t({2}, 1)}})},
       {"optimizer_states",
        pickled::list({optimizer("exp_avg", {2, 2}), optimizer("momentum_buffer", {1, 2})})}})));
  for (const char* name :
       {"a.w@exp_avg", "a.b@exp_avg", "c.w@momentum_buffer", "c.b@momentum_buffer"}) {
    CAPTURE(name);
    CHECK(opened.record(name));
  }
  CHECK(opened.state.records.size() == 8);
}

TEST_CASE("a dict of optimizers: each holds the parameters of the model it is named after") {
  const auto t = [](std::vector<std::int64_t> size, std::int64_t offset = 0) {
    return pickled::tensor(
        {"FloatStorage", "0", 4, offset, size, std::vector<std::int64_t>(size.size(), 0)});
  };
  const auto optimizer = [&](const std::string& key) {
    const std::string state =
        "}(K\0"s + pickled::dict({{key, t({2})}}) + "K\1" + pickled::dict({{key, t({2})}}) + "u";
    const std::string group = pickled::dict({{"params", pickled::list({"K\0"s, "K\1"s})}});
    return pickled::dict({{"state", state}, {"param_groups", pickled::list({group})}});
  };
  const auto model = [&](std::int64_t offset) {
    return pickled::dict({{"w", t({2}, offset)}, {"b", t({2}, offset + 1)}});
  };
  // In another order than the models', of the same shapes.
  const std::string both = pickled::dict(
      {{"critic", optimizer("momentum_buffer")}, {"generator", optimizer("exp_avg")}});
  for (const bool nested : {false, true}) {
    CAPTURE(nested);
    const std::string file =
        nested
            ? pickled::dict(
                  {{"model", pickled::dict({{"generator", model(0)}, {"critic", model(2)}})},
                   {"optimizer", both}})
            : pickled::dict({{"generator", model(0)}, {"critic", model(2)}, {"optimizer", both}});
    const Opened opened(torch_archive(file));
    for (const char* name : {"generator.w@exp_avg", "generator.b@exp_avg",
                             "critic.w@momentum_buffer", "critic.b@momentum_buffer"}) {
      CAPTURE(name);
      CHECK(opened.record(name));
    }
    CHECK(opened.state.records.size() == 8);
    CHECK(opened.finding("other orders fit") == nullptr);
  }
}

TEST_CASE("an optimizer without state has no numbers that want names") {
  const auto t = [](std::vector<std::int64_t> size) {
    return pickled::tensor(
        {"FloatStorage", "0", 4, 0, size, std::vector<std::int64_t>(size.size(), 0)});
  };
  const std::string groups = pickled::list({pickled::dict({{"params", pickled::list({"K\0"s})}}),
                                            pickled::dict({{"params", pickled::list({"K\1"s})}})});
  const Opened opened(torch_archive(
      pickled::dict({{"model", pickled::dict({{"a", t({2})}, {"b", t({2})}})},
                     {"optimizer", pickled::dict({{"state", "}"}, {"param_groups", groups}})}})));
  CHECK(opened.finding("other orders fit") == nullptr);
}

TEST_CASE("a module's names are those of its state_dict") {
  const std::string tensor = pickled::tensor({});
  const std::string inner =
      pickled::global("m", "Inner") + ")\x81" +
      pickled::dict({{"_parameters", pickled::dict({{"w", tensor}})}, {"_modules", "}"}}) + "b";
  const Opened opened(
      torch_archive(pickled::global("m", "Outer") + ")\x81" +
                    pickled::dict({{"training", "\x88"},
                                   {"_parameters", "}"},
                                   {"_buffers", pickled::dict({{"n", tensor}})},
                                   {"_modules", pickled::dict({{"inner", inner}})}}) +
                    "b"));
  CHECK(opened.record("n"));
  CHECK(opened.record("inner.w"));
}

TEST_CASE("two tensors of one path are both there") {
  const Opened opened(torch_archive(pickled::dict(
      {{"a.b", pickled::tensor({})}, {"a", pickled::dict({{"b", pickled::tensor({})}})}})));
  CHECK(opened.record("a.b"));
  CHECK(opened.record("a.b#2"));
  CHECK(opened.warning("two tensors have the path a.b"));
}

TEST_CASE("namesakes are numbered on, past names that have a number of their own") {
  const std::string kept = pickled::tensor({}) + "q\1" + "0";
  std::string pairs = pickled::text("a#3") + "h\1";
  for (int i = 0; i < 3000; ++i) pairs += pickled::text("a") + "h\1";
  const Opened opened(torch_archive(kept + "}(" + pairs + "u"));
  REQUIRE(opened.state.records.size() == 3001);
  CHECK(opened.record("a"));
  CHECK(opened.state.records[2].identity.name == "a#2");
  CHECK(opened.state.records[3].identity.name == "a#4");
  CHECK(opened.state.records.back().identity.name == "a#3001");
}

TEST_CASE("prefixes of wrappers are taken off, however many") {
  CHECK(without_wrappers("a._orig_mod._fsdp_wrapped_module.b") == "a.b");
  CHECK(without_wrappers("not_orig_mod.a") == "not_orig_mod.a");
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "_orig_mod.";
  CHECK(without_wrappers(many + "w." + many + "v") == "w.v");
  CHECK(without_wrappers(many + "w" + many + "v") == "w_orig_mod.v");
}

TEST_CASE("the legacy container, and a view of another storage") {
  const Opened opened(
      torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage));
  CHECK(opened.file->container() == TorchContainer::legacy);
  REQUIRE(opened.record("w"));
  CHECK(opened.record("w")->piece.offset == opened.source->size() - 16);
  CHECK(opened.state.findings.empty());
}

TEST_CASE("cut at every byte, a file is a diagnosis that names it") {
  for (const std::string& text : {torch_archive(one_tensor({})),
                                  torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}),
                                               little(4, 8) + kStorage)}) {
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
      try {
        const Opened opened(text.substr(0, cut));
        const auto bad = std::find_if(opened.state.findings.begin(), opened.state.findings.end(),
                                      [](const Finding& finding) { return finding.incomplete; });
        REQUIRE(bad != opened.state.findings.end());
        CHECK(bad->where->file == "t.pt");
        CHECK(bad->where->offset);
      } catch (const Error& error) {
        CHECK(error.where().file == "t.pt");
        CHECK(error.where().offset);
      }
    }
  }
}

TEST_CASE("small archives are verified whole, of larger ones an eighth, never more than 64 MiB") {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  CHECK(checksum_budget(0) == 16 * mib);
  CHECK(checksum_budget(128 * mib) == 16 * mib);
  CHECK(checksum_budget(256 * mib) == 32 * mib);
  CHECK(checksum_budget(UINT64_MAX) == 64 * mib);
}

TEST_CASE("real files in both containers hold the same tensors") {
  const auto zip = formats::open(tests::project_file("samples/checkpoint/train.pt"));
  const auto old = formats::open(tests::project_file("samples/checkpoint/train-legacy.pt"));
  REQUIRE(zip);
  REQUIRE(old);
  CHECK(zip->format == "torch");
  const State a = zip->open(0);
  const State b = old->open(0);
  REQUIRE(!a.records.empty());
  REQUIRE(a.records.size() == b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    CHECK(a.records[i].identity == b.records[i].identity);
    CHECK(a.records[i].dtype == b.records[i].dtype);
    CHECK(a.records[i].shape == b.records[i].shape);
  }
  CHECK(a.unreadable == 0);
}

}  // namespace
}  // namespace ttcheck::formats
