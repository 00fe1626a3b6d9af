// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rotated_known.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

double number(std::int64_t i, double pitch) {
  const double x = std::sin(pitch * static_cast<double>(i * i + 1)) * 43758.5453;
  return static_cast<double>(static_cast<float>(2 * (x - std::floor(x)) - 1));
}

/// Two heads of four rows. The candidate of `own` is the reference's `other`, its rows in the order
/// of halves or whatever `order` says.
struct Row {
  const char* what;
  bool found;
  std::string own = "layers.0.self_attn.v_proj.weight";
  std::string other = "layers.0.self_attn.k_proj.weight";
  std::vector<std::int64_t> order = {0, 2, 1, 3, 4, 6, 5, 7};
  double noise = 0;
  bool same_side = false, earlier = false;
};

TEST_CASE("values that are keys in the order of halves") {
  const std::string keys = "layers.0.self_attn.k_proj.weight";
  const std::string values = "layers.0.self_attn.v_proj.weight";
  const Row rows[] = {
      {"halves", true},
      {"keys that are values", true, keys, values},
      {"queries", true, values, "layers.0.self_attn.q_proj.weight"},
      {"as they were", false, values, keys, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"in an order of no rotation", false, values, keys, {0, 5, 2, 3, 4, 1, 6, 7}},
      {"whole heads", false, values, keys, {4, 5, 6, 7, 0, 1, 2, 3}},
      {"within noise", true, values, keys, {0, 2, 1, 3, 4, 6, 5, 7}, 1e-7},
      {"beyond it", false, values, keys, {0, 2, 1, 3, 4, 6, 5, 7}, 0.05},
      {"of the candidate's own side", false, values, keys, {0, 2, 1, 3, 4, 6, 5, 7}, 0, true},
      {"as they stood before", false, values, keys, {0, 2, 1, 3, 4, 6, 5, 7}, 0, false, true},
      {"of another layer", false, values, "layers.1.self_attn.k_proj.weight"},
      {"of another layer and part", false, values, "layers.1.self_attn.v_proj.weight"},
      {"that end otherwise", false, values, "layers.0.self_attn.k_proj.bias"},
      {"of an MLP", false, "layers.0.mlp.up_proj.weight", "layers.0.mlp.gate_proj.weight"},
      {"of the same name", false, values, values},
      {"behind another part", false, values, "layers.0.cross_attn.k_proj.weight"},
      {"of a number", false, "attn.1.k_proj", "attn.2.k_proj"},
      {"at the start of a name", true, "v_proj.weight", "k_proj.weight"},
      {"at its end", true, "attn.v_proj", "attn.k_proj"},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<double> reference, other, candidate;
    for (std::int64_t i = 0; i < 48; ++i) {
      reference.push_back(number(i, 1.1));
      other.push_back(number(i, 2.3));
    }
    for (std::size_t i = 0; i < 48; ++i) {
      const auto from = static_cast<std::size_t>(row.order[i / 6]) * 6 + i % 6;
      candidate.push_back(other[from] + row.noise * number(static_cast<std::int64_t>(i), 3.7));
    }
    tests::PairBeyond pair({8, 6}, reference, candidate);
    pair.result.identity.name = row.own;
    pair.numbers = {{"head_dim", 4}, {"heads", 2}};
    Tensor tensor = pair.hold({8, 6}, other);
    tensor.identity.name = row.other;
    pair.subject.known = {{&tensor, "X", row.earlier, row.same_side}};
    const auto found = rotated_known(pair.subject, pair.seen());
    REQUIRE(found.has_value() == row.found);
    if (!found) continue;
    CHECK(found->code == Code::name_mapping);
    CHECK(found->penalty == 2);
    CHECK(tests::parameter_of<std::string>(*found, "equals") == "X");
    CHECK(tests::parameter_of<std::string>(*found, "arrangement") == "rope-halves");
    CHECK(found->hypothesis.residual <= row.noise);
    CHECK(found->words ==
          "it is X, under another name, its heads reordered as rotary keys are (rope-halves)");
  }
}

TEST_CASE("only matrices, all of whose numbers are there") {
  std::vector<double> reference, other, candidate;
  for (std::int64_t i = 0; i < 48; ++i) {
    reference.push_back(number(i, 1.1));
    other.push_back(number(i, 2.3));
  }
  for (std::size_t i = 0; i < 48; ++i) {
    constexpr std::size_t kOrder[] = {0, 2, 1, 3, 4, 6, 5, 7};
    candidate.push_back(other[kOrder[i / 6] * 6 + i % 6]);
  }
  const auto tried = [&](const Shape& shape, const std::vector<double>& a,
                         const std::vector<double>& b) {
    tests::PairBeyond pair(shape, a, b);
    pair.result.identity.name = "attn.v_proj";
    pair.numbers = {{"head_dim", 4}};
    Tensor tensor = pair.hold(shape, other);
    tensor.identity.name = "attn.k_proj";
    pair.subject.known = {{&tensor, "X", false, false}};
    return rotated_known(pair.subject, pair.seen()).has_value();
  };
  CHECK(tried({8, 6}, reference, candidate));
  CHECK_FALSE(tried({8, 3, 2}, reference, candidate));
  CHECK_FALSE(tried({8, 6}, std::vector<double>(48), candidate));
  auto lost = reference;
  lost[7] = NAN;
  CHECK_FALSE(tried({8, 6}, lost, candidate));
}

}  // namespace
}  // namespace ttcheck::explain
