// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/flat_state.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::formats {
namespace {

std::string named(const std::vector<std::string>& names) {
  std::vector<Record> records;
  for (const std::string& name : names) records.emplace_back().identity.name = name;
  name_flat_state(records);
  std::string text;
  for (const Record& record : records) {
    text += record.identity.name + (record.kind == Kind::moment1 ? "! " : " ");
  }
  return text;
}

TEST_CASE("F11: state of a flattened optimizer takes the name of its parameter") {
  CHECK(named({"net.w", "net.w.a", "optimizer.state.net.w.exp_avg", "optim.state.net.w.a.exp_avg",
               "optimizer.state.net.w.step"}) ==
        "net.w net.w.a net.w@exp_avg! net.w.a@exp_avg! net.w@step ");
}

TEST_CASE("F11: the parameters may lie in a container that the optimizer's names are without") {
  CHECK(named({"model.net.w", "optimizer.state.net.w.exp_avg"}) ==
        "model.net.w model.net.w@exp_avg! ");
}

TEST_CASE("the longest name counts, of equal ones that of the first container") {
  CHECK(named({"a", "model.a.b", "optimizer.state.a.b.exp_avg"}) ==
        "a model.a.b model.a.b@exp_avg! ");
  CHECK(named({"a", "model.a", "optimizer.state.a.step"}) == "a model.a a@step ");
  CHECK(named({"a", "a-b", "a.b.c.d", "optimizer.state.a.b.c.x"}) == "a a-b a.b.c.d a@b.c.x ");
  CHECK(named({"a", "a-b", "ab", "optimizer.state.a.x"}) == "a a-b ab a@x ");
  CHECK(named({"", "x", "optimizer.state..exp_avg"}) == " x optimizer.state..exp_avg ");
}

TEST_CASE("a name of very many dots takes no look-up of its own length for each of them") {
  constexpr std::size_t kMany = 4'000'000;  // dots; their look-ups would take minutes
  const std::string state = "optimizer.state.w" + std::string(kMany, '.');
  CHECK(named({"v", state}) == "v " + state + " ");
  CHECK(named({"w", state}) == "w w@" + std::string(kMany - 1, '.') + " ");
}

TEST_CASE("of a parameter that is not there, of a name that is taken: as it was") {
  CHECK(named({"net.w", "optimizer.state.net.v.exp_avg", "optimizer.state.0.exp_avg",
               "other.state.net.w.exp_avg"}) ==
        "net.w optimizer.state.net.v.exp_avg optimizer.state.0.exp_avg other.state.net.w.exp_avg ");
  CHECK(named({"w", "w@exp_avg", "optimizer.state.w.exp_avg"}) ==
        "w w@exp_avg optimizer.state.w.exp_avg ");
}

}  // namespace
}  // namespace ttcheck::formats
