// SPDX-License-Identifier: Apache-2.0
#include "core/model/kind.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck {
namespace {

TEST_CASE("the words of a trace's records") {
  struct Row {
    std::string word;
    std::optional<Kind> kind;
  };
  for (const Row& row : std::vector<Row>{{"param", Kind::weight},
                                         {"master", Kind::master},
                                         {"moment1", Kind::moment1},
                                         {"moment2", Kind::moment2},
                                         {"grad", Kind::grad},
                                         {"main_grad", Kind::main_grad},
                                         {"input", Kind::input},
                                         {"output", Kind::output},
                                         {"grad_input", Kind::grad_input},
                                         {"grad_output", Kind::grad_output},
                                         {"loss", Kind::loss},
                                         {"comm_in", Kind::comm_in},
                                         {"comm_out", Kind::comm_out},
                                         {"state", Kind::state},
                                         {"", std::nullopt},  // momentum, step, other have none
                                         {"weight", std::nullopt},
                                         {"momentum", std::nullopt},
                                         {"step", std::nullopt},
                                         {"other", std::nullopt},
                                         {"Input", std::nullopt},
                                         {"input ", std::nullopt},
                                         {"@grad", std::nullopt}}) {
    INFO(row.word);
    CHECK(kind_of_record(row.word) == row.kind);
  }
}

TEST_CASE("the suffix of a checkpoint's name") {
  struct Row {
    std::string name;
    Kind kind;
  };
  for (const Row& row : std::vector<Row>{{"layers.0.w", Kind::weight},
                                         {"", Kind::weight},
                                         {"w@master", Kind::master},
                                         {"w@exp_avg", Kind::moment1},
                                         {"w@exp_avg_sq", Kind::moment2},
                                         {"w@momentum_buffer", Kind::momentum},
                                         {"w@step", Kind::step},
                                         {"w@grad", Kind::grad},
                                         {"w@main_grad", Kind::other},
                                         {"w@exp_avg_", Kind::other},
                                         {"w@exp", Kind::other},
                                         {"w@", Kind::other},
                                         {"@", Kind::other},
                                         {"@step", Kind::step},
                                         {"a@b@exp_avg", Kind::moment1},
                                         {"w@exp_avg@x", Kind::other},
                                         {"w.exp_avg", Kind::weight},
                                         {"w@param", Kind::other}}) {
    INFO(row.name);
    CHECK(kind_of_name(row.name) == row.kind);
  }
}

TEST_CASE("reports call each kind by its enumerator") {
  const std::vector<std::string> names = {
      "weight", "master",    "moment1",  "moment2", "momentum",   "step",
      "grad",   "main_grad", "input",    "output",  "grad_input", "grad_output",
      "loss",   "comm_in",   "comm_out", "state",   "other"};
  REQUIRE(names.size() == kKinds.size());
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(name(static_cast<Kind>(i)) == names[i]);
}

}  // namespace
}  // namespace ttcheck
