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

TEST_CASE("of a parameter that is not there, of a name that is taken: as it was") {
  CHECK(named({"net.w", "optimizer.state.net.v.exp_avg", "optimizer.state.0.exp_avg",
               "other.state.net.w.exp_avg"}) ==
        "net.w optimizer.state.net.v.exp_avg optimizer.state.0.exp_avg other.state.net.w.exp_avg ");
  CHECK(named({"w", "w@exp_avg", "optimizer.state.w.exp_avg"}) ==
        "w w@exp_avg optimizer.state.w.exp_avg ");
}

}  // namespace
}  // namespace ttcheck::formats
