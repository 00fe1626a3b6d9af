// SPDX-License-Identifier: Apache-2.0
#include "core/diff/ops_of_one_side.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::diff {
namespace {

/// The records of a rank's forward pass, numbered as they stand.
std::vector<Tensor> records(const std::vector<std::pair<std::string, Kind>>& rows) {
  std::vector<Tensor> made;
  for (const auto& [name, kind] : rows) {
    auto record = std::make_shared<TraceRecord>();
    record->seq = static_cast<std::int64_t>(made.size());
    Tensor& tensor = made.emplace_back();
    tensor.identity.name = name;
    tensor.identity.phase = Phase::forward;
    tensor.kind = kind;
    tensor.pieces.emplace_back();
    tensor.trace = std::move(record);
  }
  return made;
}

/// What is said of the candidate's record `own`; the reference has it alone.
std::string words(std::vector<Tensor> candidate, std::size_t own, std::vector<std::size_t> alone) {
  MetStep met;
  met.sides = std::make_shared<std::array<OpenedStep, 2>>();
  met.sides->at(0).assembly.tensors = records({{candidate[own].identity.name, Kind::output}});
  met.sides->at(1).assembly.tensors = std::move(candidate);
  met.pairs.push_back({&met.reference()[0], &met.candidate()[own]});
  met.alignment.only_candidate = std::move(alone);
  TensorResult head;
  head.pair = 0;
  return lone_ops_words(met, head);
}

TEST_CASE("ops of one side shortly before the first difference are named, what they read is not") {
  CHECK(words(records({{"x", Kind::output},
                       {"view/input", Kind::input},
                       {"view", Kind::output},
                       {"mm", Kind::output}}),
              3, {1, 2}) == "; shortly before it only the candidate has view");
  CHECK(words(records({{"view/input", Kind::input}, {"mm", Kind::output}}), 1, {0}).empty());
}

TEST_CASE("of many the last are named, and those far before are not") {
  CHECK(words(records({{"a", Kind::output},
                       {"b", Kind::output},
                       {"c", Kind::output},
                       {"d", Kind::output},
                       {"mm", Kind::output}}),
              4, {0, 1, 2, 3}) == "; shortly before it only the candidate has b, c, d and 1 more");
  CHECK(words(records({{"a", Kind::output},
                       {"b", Kind::output},
                       {"c", Kind::output},
                       {"d", Kind::output},
                       {"mm", Kind::output}}),
              4, {0}) == "; shortly before it only the candidate has a");
  CHECK(words(records({{"a", Kind::output},
                       {"b", Kind::output},
                       {"c", Kind::output},
                       {"d", Kind::output},
                       {"e", Kind::output},
                       {"mm", Kind::output}}),
              5, {0})
            .empty());
}

}  // namespace
}  // namespace ttcheck::diff
