// SPDX-License-Identifier: Apache-2.0
// Short files that say the same thing very often: what is read of them, and what is said of the
// rest.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/support/opened_torch.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::little;
using tests::MemorySource;
using tests::OpenedTorch;
using tests::torch_archive;

std::string repeated(std::string_view what, int count) {
  std::string made;
  for (int i = 0; i < count; ++i) made += what;
  return made;
}

/// One tensor `w`, and an optimizer.
std::string with_optimizer(const std::string& state, const std::string& groups) {
  return torch_archive(
      dict({{"w", tensor({})}, {"optimizer", dict({{"state", state}, {"param_groups", groups}})}}));
}

std::int64_t count_of(const State& state, std::string_view text) {
  return std::ranges::count_if(state.findings, [&](const Finding& one) {
    return one.message.find(text) != std::string::npos;
  });
}

TEST_CASE("a group that is listed very often is read as often as the budget goes") {
  const std::string group = dict({{"params", "](" + repeated("K\1", 2000) + "e"}}) + "q\1";
  const std::string state = "}(K\1" + dict({{"m", "K\2"}}) + "u";
  const OpenedTorch file(with_optimizer(state, "](" + group + repeated("h\1", 1999) + "e"));
  CHECK(file.warning("limit reached: values are nested or shared so often"));
  CHECK(!file.warning("fit no order"));  // which nobody looked at
  CHECK(file.record("w"));
  const OpenedTorch once(with_optimizer(state, "](" + group + "e"));
  CHECK(!once.warning("limit reached"));
  CHECK(find_fact(once.state.facts, "optimizer.state.1.m") != nullptr);
}

TEST_CASE("the state that very many ids are of is looked at once") {
  // 150000 ids of a state with 60000 fields: anew for each id it would take minutes.
  std::string fields = "}(";
  for (std::uint64_t i = 0; i < 60'000; ++i) fields += "J" + little(i, 4) + "N";
  const std::string group = dict({{"params", "](" + repeated("K\1", 150'000) + "e"}});
  const OpenedTorch file(with_optimizer("}(K\1" + fields + "uu", list({group})));
  CHECK(!file.warning("limit reached"));
  CHECK(file.state.facts.size() == 60'000);
}

TEST_CASE("long names that groups give to very many ids are kept as far as the budget goes") {
  std::string ids, names = "](" + text(std::string(1 << 20, 'n')) + "q\1";
  for (std::uint64_t i = 0; i < 300; ++i) {
    ids += "M" + little(i, 2);
    if (i > 0) names += "h\1";
  }
  const std::string group = dict({{"params", "](" + ids + "e"}, {"param_names", names + "e"}});
  const OpenedTorch file(with_optimizer(dict({}), list({group})));
  CHECK(file.warning("limit reached: values are nested or shared so often"));
  CHECK(file.record("w"));
}

TEST_CASE("options of groups are among the values that a file may have beside its tensors") {
  std::string options = "}(" + text("params") + "]";
  for (int i = 0; i < 100'001; ++i) options += text(fmt::format("k{}", i)) + "K\1";
  const OpenedTorch file(torch_archive(
      dict({{"w", tensor({})},
            {"epoch", "K\3"},
            {"optimizer", dict({{"state", dict({})}, {"param_groups", list({options + "u"})}})}})));
  CHECK(file.state.facts.size() == 100'000);
  CHECK(count_of(file.state, "limit reached: more than 100000 values beside the tensors") == 1);
  CHECK(file.finding("limit reached: more than 100000 values")->incomplete);
}

TEST_CASE("a storage whose class changes from id to id is listed so often, then counted") {
  const std::string both = tensor({}) + tensor({"IntStorage", "0"});
  const OpenedTorch file(torch_archive(dict({{"l", "](" + repeated(both, 150) + "e"}})));
  CHECK(count_of(file.state, "storage 0 is used as") == 100);
  CHECK(file.warning("199 more of these are not listed"));
  CHECK(file.state.records.size() == 300);
}

/// The object of an archive whose tensors are facts.
State extra_of(const std::string& object) {
  const MemorySource source(tests::to_bytes(torch_archive(object)), "t.pt");
  const TorchFile file = read_torch(source);
  TorchPart part;
  part.role = TorchPart::Role::extra;
  return torch_state(file, part);
}

TEST_CASE("tensors beside the model are hashed up to a total that grows with the file") {
  // Six times 16 MiB, all from one element of the storage.
  const tests::pickled::Tensor wide = {"FloatStorage", "0", 4, 0, {std::int64_t{1} << 22}, {0}};
  const State state = extra_of(dict({{"a", tensor(wide)},
                                     {"b", tensor(wide)},
                                     {"c", tensor(wide)},
                                     {"d", tensor(wide)},
                                     {"e", tensor(wide)},
                                     {"f", tensor(wide)},
                                     {"small", tensor({})}}));
  CHECK(find_fact(state.facts, "d") != nullptr);
  CHECK(find_fact(state.facts, "e") == nullptr);
  CHECK(find_fact(state.facts, "small") != nullptr);
  CHECK(count_of(state, "limit reached: 16777216 bytes beside the tensors, more than is left") ==
        2);
  CHECK(state.unreadable == 2);
}

TEST_CASE("a tensor beside the model that cannot be read counts as unreadable") {
  const State state =
      extra_of(dict({{"lost", tensor({"FloatStorage", "7"})}, {"there", tensor({})}}));
  CHECK(count_of(state, "storage 7 is missing") == 1);
  CHECK(state.unreadable == 1);
  CHECK(find_fact(state.facts, "there") != nullptr);
}

}  // namespace
}  // namespace ttcheck::formats
