// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/stated.hpp"

#include <doctest/doctest.h>

namespace ttcheck::recompute {
namespace {

using Stated = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("what both sides state, differently, is told: the first of it") {
  struct Row {
    const char* what;
    Stated reference, candidate;
    std::string words;
  };
  const Row rows[] = {
      {"nothing", {}, {}, ""},
      {"the same", {{"eps", "1e-05"}}, {{"eps", "1e-05"}}, ""},
      {"another number", {{"eps", "1e-05"}}, {{"eps", "0.3"}}, "eps 0.3, the reference 1e-05"},
      {"the reference alone", {{"eps", "1e-05"}}, {}, ""},
      {"the candidate alone", {}, {{"eps", "1e-05"}}, ""},
      {"in another order",
       {{"dim", "1"}, {"eps", "2"}},
       {{"eps", "2"}, {"dim", "3"}},
       "dim 3, the reference 1"},
      {"behind one that is the same",
       {{"dim", "1"}, {"eps", "2"}},
       {{"dim", "1"}, {"eps", "4"}},
       "eps 4, the reference 2"},
      {"behind one that one side states",
       {{"heads", "1"}, {"eps", "2"}},
       {{"eps", "4"}},
       "eps 4, the reference 2"},
      {"two", {{"b", "1"}, {"a", "2"}}, {{"a", "3"}, {"b", "4"}}, "b 4, the reference 1"},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    TraceRecord reference, candidate;
    reference.attrs = row.reference;
    candidate.attrs = row.candidate;
    CHECK(stated_otherwise(reference, candidate) == row.words);
  }
}

}  // namespace
}  // namespace ttcheck::recompute
