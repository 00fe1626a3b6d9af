// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/local_loss.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::assemble {
namespace {

Tensor tensor_of(Phase phase, Kind kind, const std::string& line, std::int64_t mean_of = 0) {
  Tensor tensor;
  tensor.identity.phase = phase;
  tensor.kind = kind;
  tensor.placement = std::make_shared<const Placement>(parse_dims(line));
  tensor.mean_of = mean_of;
  tensor.pieces.resize(2);
  tensor.replicas.resize(1);
  return tensor;
}

Tensor loss_of(const std::string& line, std::int64_t mean_of) {
  return tensor_of(Phase::loss, Kind::loss, line, mean_of);
}

TEST_CASE("what arrives at outputs is of each rank's own loss, where the step's is their mean") {
  struct Row {
    const char* what;
    std::vector<Tensor> losses;
    Tensor gradient;
    std::int64_t mean_of;  ///< 0: left as it is
  };
  const auto gradient = [](const char* line) {
    return tensor_of(Phase::backward, Kind::grad_output, line);
  };
  const Row rows[] = {
      {"of two ranks", {loss_of("# dp:partial=avg mb:partial", 2)}, gradient("b[dp,mb] h"), 2},
      {"and four micro-batches",
       {loss_of("# dp:partial=avg mb:partial=avg", 8)},
       gradient("b[dp,mb] h"),
       8},
      {"of an input",
       {loss_of("# dp:partial=avg", 2)},
       tensor_of(Phase::backward, Kind::grad_input, "b[dp] h"),
       2},
      {"a sum", {loss_of("# dp:partial", 1)}, gradient("b[dp] h"), 0},
      {"whole on each rank", {loss_of("# dp:partial=avg", 2)}, gradient("b h"), 0},
      {"cut along some of the axes",
       {loss_of("# dp:partial=avg mb:partial=avg", 8)},
       gradient("b[dp] h"),
       0},
      {"of a parameter",
       {loss_of("# dp:partial=avg", 2)},
       tensor_of(Phase::backward, Kind::grad, "b[dp] h"),
       0},
      {"two losses that say the same",
       {loss_of("# dp:partial=avg", 2), loss_of("# dp:partial=avg", 2)},
       gradient("b[dp] h"),
       2},
      {"two that do not",
       {loss_of("# dp:partial=avg", 2), loss_of("# dp:partial", 1)},
       gradient("b[dp] h"),
       0},
      {"no loss", {}, gradient("b[dp] h"), 0},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<Tensor> tensors = row.losses;
    tensors.push_back(row.gradient);
    set_gradients_of_step(tensors);
    const Tensor& made = tensors.back();
    CHECK(made.mean_of == row.mean_of);
    CHECK((made.reduce == Reduce::avg) == (row.mean_of > 0));
    CHECK(made.pieces.size() == (row.mean_of > 0 ? 0 : 2));
    CHECK(made.terms.size() == (row.mean_of > 0 ? 1 : 0));
    CHECK(made.term_replicas.size() == made.terms.size());
  }
}

}  // namespace
}  // namespace ttcheck::assemble
