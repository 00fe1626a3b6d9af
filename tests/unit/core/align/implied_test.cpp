// SPDX-License-Identifier: Apache-2.0
#include "core/align/implied.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensors;

/// `left-right` of each pair, then the leftovers.
std::vector<std::string> met(const std::vector<Tensor>& left, std::vector<Tensor> right,
                             const AlignOptions& options = {}) {
  const Alignment done = align(left, right, options);
  std::vector<std::string> words;
  for (const PairIndex& pair : done.pairs) {
    const std::string& a = left[pair.reference].identity.name;
    const std::string& b = right[pair.candidate].identity.name;
    words.push_back(a == b ? a : a + "-" + b);
  }
  for (const std::size_t i : done.only_reference) words.push_back(left[i].identity.name + "-");
  for (const std::size_t j : done.only_candidate) words.push_back("-" + right[j].identity.name);
  return words;
}

using Words = std::vector<std::string>;

TEST_CASE("a weight is held against the master where the other side keeps masters alone") {
  const auto both = named_tensors({"w", "w@master", "b"});
  CHECK(met(both, named_tensors({"w@master", "b"})) == Words{"w-w@master", "w@master", "b"});
  CHECK(met(named_tensors({"w@master", "b"}), both) == Words{"w@master", "w@master-w", "b"});
  // one weight lost among others is a loss
  CHECK(met(named_tensors({"w", "w@master", "v", "v@master"}),
            named_tensors({"w@master", "v", "v@master"})) ==
        Words{"w@master", "v", "v@master", "w-"});
}

TEST_CASE("a tied name is held against the one that the other side states for it") {
  AlignOptions options;
  options.candidate_ties.names = {{"head", "embed"}};
  const auto left = named_tensors({"embed", "head"});
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-embed"});
  CHECK(met(left, named_tensors({"embed"})) == Words{"embed", "head-"});
  CHECK(met(left, named_tensors({"embed@master"}), options) ==
        Words{"embed-embed@master", "head-embed@master"});
  options.candidate_ties.names = {{"head@exp_avg", "embed"}};  // state is tied to no parameter
  CHECK(met(named_tensors({"embed", "head@exp_avg"}), named_tensors({"embed", "x@exp_avg"}),
            options) == Words{"embed", "head@exp_avg-", "-x@exp_avg"});
  options.candidate_ties.names = {{"head", "embed"}};
  const auto masters = named_tensors({"embed@master", "other@master"});
  CHECK(met(named_tensors({"embed", "head", "other"}), masters, options) ==
        Words{"embed-embed@master", "head-embed@master", "other-other@master"});
  options.maps = {{"x", "y", "same", 1}};  // a map of other names says nothing of the tie
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-embed"});
  options.maps = {};
  options.candidate_ties = {};
  options.reference_ties.names = {{"head", "embed"}};  // it has the tensor, so that says nothing
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-"});
}

TEST_CASE("where embeddings are tied, what lies in one place is one parameter") {
  const tests::ArraySource source = tests::ArraySource::of(std::vector<float>(12));
  auto left = named_tensors({"embed", "head", "other"});
  for (std::size_t i = 0; i < left.size(); ++i) {
    Piece& piece = left[i].pieces.emplace_back();
    piece.source = &source;
    piece.offset = i == 2 ? 24 : 0;
  }
  AlignOptions options;
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-", "other-"});
  options.candidate_ties.embeddings = true;
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-embed", "other-"});
  left[1].shape = {3, 2};
  CHECK(met(left, named_tensors({"embed"}), options) == Words{"embed", "head-", "other-"});
}

TEST_CASE("a master without moments is held against the weight that it was made from") {
  const auto made = named_tensors({"w", "w@master", "w@exp_avg", "b", "b@master"});
  const auto plain = named_tensors({"w", "w@master", "w@exp_avg", "b"});
  CHECK(met(made, plain) == Words{"w", "w@master", "w@exp_avg", "b", "b@master-b"});
  const auto trained = named_tensors({"w", "w@master", "w@exp_avg", "b", "b@master", "b@exp_avg"});
  for (const std::string moment : {"@exp_avg", "@exp_avg_sq", "@momentum_buffer"}) {
    const auto one = named_tensors({"w", "w@master", "w" + moment, "b", "b@master"});
    const auto other = named_tensors({"w", "w@master", "w" + moment, "b"});
    CHECK(met(one, other) == Words{"w", "w@master", "w" + moment, "b", "b@master-b"});
  }
  const auto counted = named_tensors({"w", "w@master", "w@step", "b", "b@master"});
  CHECK(met(counted, named_tensors({"w", "w@master", "w@step", "b"})).back() == "b@master-");
  CHECK(met(plain, made) == Words{"w", "w@master", "w@exp_avg", "b", "b-b@master"});
  // It was trained there, so the weight does not say it all.
  CHECK(met(made, named_tensors({"w", "w@master", "w@exp_avg", "b", "b@exp_avg"})) ==
        Words{"w", "w@master", "w@exp_avg", "b", "b@master-", "-b@exp_avg"});
  CHECK(met(made, named_tensors({"w", "w@master", "w@exp_avg", "c"})).size() == 6);
  CHECK(met(trained, plain) == Words{"w", "w@master", "w@exp_avg", "b", "b@master-", "b@exp_avg-"});
}

}  // namespace
}  // namespace ttcheck::align
