#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "formats/formats.hpp"
#include "formats/torch_optimizer.hpp"
#include "formats/torch_state.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/project_file.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::MemorySource;
using tests::ZipWriter;
namespace pickled = tests::pickled;
using namespace std::string_literals;

/// The bytes 0 to 15: a storage of four floats.
const std::string kStorage = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"s;

/// A file in memory, read as torch would.
struct Opened {
  explicit Opened(const std::string& text)
      : source(std::make_unique<MemorySource>(tests::to_bytes(text), "t.pt")),
        file(std::make_unique<TorchFile>(read_torch(*source))),
        state(torch_state(*file)) {}

  const Record* record(std::string_view name) const {
    for (const Record& found : state.records) {
      if (found.identity.name == name) return &found;
    }
    return nullptr;
  }

  bool says(std::string_view text, Severity severity) const {
    return std::any_of(state.findings.begin(), state.findings.end(), [&](const Finding& finding) {
      return finding.severity == severity && finding.message.find(text) != std::string::npos;
    });
  }
  bool error(std::string_view text) const { return says(text, Severity::error); }
  bool warning(std::string_view text) const { return says(text, Severity::warning); }

  std::unique_ptr<MemorySource> source;
  std::unique_ptr<TorchFile> file;
  State state;
};

std::string archive(const std::string& object, const std::string& storage = kStorage,
                    const std::vector<std::pair<std::string, std::string>>& more = {}) {
  ZipWriter made;
  made.add("x/data.pkl", pickled::whole(object));
  for (const auto& [name, content] : more) made.add(name, content);
  made.add("x/data/0", storage);
  return made.finish(true);
}

std::string one(const pickled::Tensor& tensor) {
  return pickled::dict({{"w", pickled::tensor(tensor)}});
}

/// The legacy container around an object, with one storage.
std::string legacy(const std::string& object, const std::string& keys, const std::string& storages,
                   const std::string& little_endian = "\x88") {
  return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s + pickled::whole("M\xe9\3") +
         pickled::whole(pickled::dict({{"little_endian", little_endian}})) +
         pickled::whole(object) + pickled::whole(keys) + storages;
}

TEST_CASE("a tensor lies where its storage's member lies") {
  const Opened opened(archive(one({})));
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

TEST_CASE("views are cells: offset, strides, stride 0") {
  const Opened opened(archive(
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
  const Opened opened(archive(pickled::dict(
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

TEST_CASE("ids of an optimizer: order and shape decide, and doubt is told") {
  const std::vector<Candidate> model = {{"a", {3}}, {"b", {2, 2}}, {"c", {3}}, {"d", {2, 2}}};
  bool ambiguous = false;
  CHECK(match_groups({{{2, 2}, {2, 2}}, {{3}, {3}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{1, 3}, {0, 2}});
  CHECK(!ambiguous);
  CHECK(match_groups({{{3}}, {{2, 2}, {3}}}, model, ambiguous).size() == 2);
  CHECK(ambiguous);
  CHECK(match_groups({{{9}}}, model, ambiguous).empty());
}

TEST_CASE("a module's names are those of its state_dict") {
  const std::string tensor = pickled::tensor({});
  const std::string inner =
      pickled::global("m", "Inner") + ")\x81" +
      pickled::dict({{"_parameters", pickled::dict({{"w", tensor}})}, {"_modules", "}"}}) + "b";
  const Opened opened(archive(pickled::global("m", "Outer") + ")\x81" +
                              pickled::dict({{"training", "\x88"},
                                             {"_parameters", "}"},
                                             {"_buffers", pickled::dict({{"n", tensor}})},
                                             {"_modules", pickled::dict({{"inner", inner}})}}) +
                              "b"));
  CHECK(opened.record("n"));
  CHECK(opened.record("inner.w"));
}

TEST_CASE("PT01: a storage shorter than its tensors is named, others are read") {
  const Opened opened(
      archive(pickled::dict({{"all", pickled::tensor({})},
                             {"part", pickled::tensor({"FloatStorage", "0", 4, 0, {2}, {1}})}}),
              kStorage.substr(0, 9)));
  CHECK(opened.error("reaches to byte 16 of storage 0, which has 9"));
  CHECK(opened.state.unreadable == 1);
  CHECK(opened.record("part"));
}

TEST_CASE("PT02, PK25: views beyond their storage, and hostile numbers") {
  CHECK(Opened(archive(one({"FloatStorage", "0", 4, 3, {2}, {1}}))).error("reaches to byte 20"));
  CHECK(Opened(archive(one({"FloatStorage", "0", 4, std::int64_t{1} << 62, {2}, {1}})))
            .state.unreadable == 1);
  CHECK(Opened(archive(one({"FloatStorage", "0", 4, 0, {-2}, {1}})))
            .error("something other than a count"));
  CHECK(Opened(archive(one({"FloatStorage", "0", 4, 0, {2}, {-1}}))).state.unreadable == 1);
  CHECK(
      Opened(
          archive(one(
              {"FloatStorage", "0", 4, 0, {std::int64_t{1} << 40, std::int64_t{1} << 40}, {0, 0}})))
          .state.unreadable == 1);
  CHECK(Opened(archive(one({"FloatStorage", "0", 4, 0, std::vector<std::int64_t>(100, 1),
                            std::vector<std::int64_t>(100, 1)})))
            .error("64 at most"));
}

TEST_CASE("PT03: an expanded tensor of 10^18 elements is described in no time") {
  const Opened opened(
      archive(one({"FloatStorage", "0", 4, 0, {1'000'000'000, 1'000'000'000}, {0, 0}})));
  REQUIRE(opened.record("w"));
  CHECK(opened.record("w")->piece.cells.at(0).strides == Extents{0, 0});
}

TEST_CASE("PT04, PT05: a storage under two classes, missing, or left over") {
  CHECK(Opened(archive(pickled::dict(
                   {{"a", pickled::tensor({})}, {"b", pickled::tensor({"IntStorage", "0"})}})))
            .warning("used as FloatStorage and as IntStorage"));
  const Opened opened(archive(one({"FloatStorage", "7"})));
  CHECK(opened.error("storage 7 is missing"));
  CHECK(opened.says("storage 0 of 16 bytes belongs to no tensor", Severity::note));
}

TEST_CASE("PT06: byteorder big swaps, junk is refused") {
  CHECK(Opened(archive(one({}), kStorage, {{"x/byteorder", "big"}})).record("w")->piece.order ==
        ByteOrder::big);
  CHECK(Opened(archive(one({}), kStorage, {{"x/byteorder", "little"}})).record("w")->piece.order ==
        ByteOrder::little);
  CHECK_THROWS_WITH_AS(Opened(archive(one({}), kStorage, {{"x/byteorder", "middle"}})),
                       doctest::Contains("byteorder"), Error);
}

TEST_CASE("PT07: a second object is told") {
  CHECK(Opened(archive(one({}), kStorage, {{"y/data.pkl", pickled::whole("N")}}))
            .error("second object"));
}

TEST_CASE("PT10: a deflated storage is read as a stream") {
  ZipWriter made;
  made.add("x/data.pkl", pickled::whole(one({})), {true, false, false});
  made.add("x/data/0", kStorage, {true, false, false});
  const Opened opened(made.finish());
  REQUIRE(opened.record("w"));
  CHECK(opened.record("w")->piece.source->sequential());
}

TEST_CASE("PT11: versions stay text") {
  CHECK(Opened(archive(one({}), kStorage,
                       {{"x/version", std::string(40, '9')}, {"x/.format_version", ""}}))
            .state.records.size() == 1);
}

TEST_CASE("PT13: TorchScript archives are listed as code") {
  const Opened opened(
      archive(one({}), kStorage,
              {{"x/code/__torch__/m.py", "import os"}, {"x/constants.pkl", pickled::whole(")")}}));
  CHECK(opened.file->container() == TorchContainer::script);
  CHECK(opened.file->has_code());
  CHECK(opened.record("w"));
}

TEST_CASE("PK24: persistent ids of the wrong shape") {
  const auto with_id = [](const std::string& id) {
    return archive(pickled::dict(
        {{"w", pickled::call("torch._utils", "_rebuild_tensor_v2",
                             {id + "Q", "K\0"s, pickled::numbers({1}), pickled::numbers({1})})}}));
  };
  const std::string storage = pickled::global("torch", "FloatStorage");
  CHECK(Opened(with_id("K\5")).error("no well-formed storage id"));
  CHECK(Opened(with_id(pickled::tuple({pickled::text("storage"), storage}))).state.unreadable == 1);
  CHECK(Opened(with_id(pickled::tuple({pickled::text("storage"), storage, pickled::text("../0"),
                                       pickled::text("cpu"), "K\4"})))
            .error("storage ../0 is missing"));
  CHECK(Opened(with_id(pickled::tuple({pickled::text("storage"), storage, pickled::text("0"),
                                       pickled::text("meta"), "K\4"})))
            .warning("meta tensor"));
}

TEST_CASE("two tensors of one path are both there") {
  const Opened opened(archive(pickled::dict(
      {{"a.b", pickled::tensor({})}, {"a", pickled::dict({{"b", pickled::tensor({})}})}})));
  CHECK(opened.record("a.b"));
  CHECK(opened.record("a.b#2"));
  CHECK(opened.warning("two tensors have the path a.b"));
}

TEST_CASE("the legacy container, and a view of another storage") {
  const Opened opened(
      legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage));
  CHECK(opened.file->container() == TorchContainer::legacy);
  REQUIRE(opened.record("w"));
  CHECK(opened.record("w")->piece.offset == opened.source->size() - 16);
  CHECK(opened.state.findings.empty());
}

TEST_CASE("LT01: another magic number, protocol or system") {
  std::string text = legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage);
  const std::size_t protocol = text.find("M\xe9\3");
  CHECK_THROWS_WITH_AS(Opened(tests::patched(text, protocol + 1, "\0\0"s)),
                       doctest::Contains("unknown protocol"), Error);
  CHECK(Opened(legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage, "N"))
            .warning("byte order"));
}

TEST_CASE("LT02, LT03: counts that cannot be, keys without storage") {
  const std::string keys = pickled::list({pickled::text("0")});
  CHECK(Opened(legacy(one({}), keys, little(std::uint64_t{1} << 62, 8) + kStorage))
            .state.unreadable == 1);
  CHECK(Opened(legacy(one({}), keys, little(std::uint64_t{1} << 62, 8) + kStorage))
            .error("product overflows"));
  CHECK(Opened(legacy(one({}), pickled::list({pickled::text("0"), pickled::text("1")}),
                      little(4, 8) + kStorage))
            .error("no tensor says what storage 1 holds"));
  CHECK(Opened(legacy(one({}), pickled::list({}), "")).error("storage 0 is missing"));
}

TEST_CASE("LT04: a big-endian system") {
  const Opened opened(legacy(one({}), pickled::list({pickled::text("0")}),
                             std::string(7, '\0') + "\4" + kStorage, "\x89"));
  CHECK(opened.record("w")->piece.order == ByteOrder::big);
  CHECK(opened.state.findings.empty());
}

TEST_CASE("LT07: the magic number under another spelling") {
  std::string text = legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage);
  text.replace(0, 15, "L119547037146038801333356L\n.");
  CHECK(Opened(text).file->container() == TorchContainer::legacy);
}

TEST_CASE("LT08: bytes behind the last storage") {
  const Opened opened(
      legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage + "tail"));
  CHECK(opened.warning("4 bytes follow the last storage"));
  CHECK(opened.state.bytes_unclaimed == 4);
}

TEST_CASE("PK06, PK23: streams and bytes behind a bare pickle") {
  CHECK(Opened(pickled::whole("K\1") + pickled::whole("K\2")).error("1 more pickles follow"));
  CHECK(Opened(pickled::whole("K\1") + "\xff\xff").warning("2 bytes follow the pickle"));
  CHECK(Opened(pickled::whole("K\1") + pickled::whole(pickled::call("os", "system", {})))
            .warning("os.system"));
}

TEST_CASE("cut at every byte, a file is a diagnosis that names it") {
  for (const std::string& text :
       {archive(one({})),
        legacy(one({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage)}) {
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
