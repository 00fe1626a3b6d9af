// SPDX-License-Identifier: Apache-2.0
#include "core/align/neighbours.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/align/names.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensor;
using tests::named_tensors;

/// All of them are left over.
Alignment alone(const std::vector<Tensor>& reference, const std::vector<Tensor>& candidate) {
  Alignment made;
  for (std::size_t i = 0; i < reference.size(); ++i) made.only_reference.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) made.only_candidate.push_back(j);
  return made;
}

TEST_CASE("neighbours have equal shapes, and their map makes them meet") {
  const std::vector<Tensor> left = {named_tensor("model.layers.0.mlp.up.weight"),
                                    named_tensor("model.layers.1.mlp.up.weight"),
                                    named_tensor("x", {7})};
  const std::vector<Tensor> right = {named_tensor("decoder.layers.0.ffn.up.weight"),
                                     named_tensor("decoder.layers.1.ffn.up.weight"),
                                     named_tensor("y", {8})};
  const Alignment done = alone(left, right);
  const auto near = neighbours(left, right, done);
  REQUIRE(near.pairs.size() == 2);
  CHECK(map_to_paste(left, right, near.pairs) ==
        "[[map]]\nreference = 'model.layers.{l}.mlp.up.weight'\n"
        "candidate = 'decoder.layers.{l}.ffn.up.weight'\nop = \"same\"\n");
}

using Two = std::vector<std::pair<std::size_t, std::size_t>>;

Two places(const Neighbours& found) {
  Two all;
  for (const Neighbour& one : found.pairs) all.emplace_back(one.reference, one.candidate);
  return all;
}

TEST_CASE("each tensor is a neighbour once, of the nearest, and all of them are there") {
  const auto left = named_tensors({"a.bbbb.c", "a.xxxx.c", "x.yyyy.z"});
  const auto right = named_tensors({"a.bbbd.c", "a.xxed.c", "x.rrrr.z"});
  const auto found = neighbours(left, right, alone(left, right));
  CHECK(places(found) == Two{{0, 0}, {1, 1}, {2, 2}});
  CHECK(found.unclear == 0);
}

TEST_CASE("where several of one shape may be meant, none is proposed") {
  const auto left = named_tensors({"lm_head.weight", "embed.weight"});
  const auto right = named_tensors({"p000", "p001"});
  const auto found = neighbours(left, right, alone(left, right));
  CHECK(found.pairs.empty());
  CHECK(found.unclear == 2);
  const std::vector<Tensor> alone_left = {named_tensor("lm_head.weight", {7})};
  const std::vector<Tensor> alone_right = {named_tensor("p000", {7})};
  CHECK(neighbours(alone_left, alone_right, alone(alone_left, alone_right)).pairs.size() == 1);
}

TEST_CASE("a name is no neighbour of itself") {
  const auto both = named_tensors({"layers.1/grad_output.0"});
  CHECK(neighbours(both, both, alone(both, both)).pairs.empty());
}

TEST_CASE("names that differ by a constant prefix are one rule") {
  const auto plain = named_tensors({"a.x", "b.y", "c"});
  const auto wrapped = named_tensors({"net*.a.x", "net*.b.y", "d"});
  const std::vector<Neighbour> pairs = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}};
  CHECK(map_to_paste(plain, wrapped, pairs) ==
        "[[map]]\nreference = '**'\ncandidate = 'net\\*.**'\nop = \"same\"\n"
        "[[map]]\nreference = 'c'\ncandidate = 'd'\nop = \"same\"\n");
  CHECK(map_to_paste(wrapped, plain, pairs) ==
        "[[map]]\nreference = 'net\\*.**'\ncandidate = '**'\nop = \"same\"\n"
        "[[map]]\nreference = 'd'\ncandidate = 'c'\nop = \"same\"\n");
}

TEST_CASE("a pattern that would mean two things is spelled out") {
  const auto left = named_tensors({"l.0.a", "l.1.a"});
  const auto right = named_tensors({"m.0.b", "m.1.c"});
  const std::vector<Neighbour> pairs = {{0, 0, 1}, {1, 1, 1}};
  CHECK(map_to_paste(left, right, pairs) ==
        "[[map]]\nreference = 'l.0.a'\ncandidate = 'm.0.b'\nop = \"same\"\n"
        "[[map]]\nreference = 'l.1.a'\ncandidate = 'm.1.c'\nop = \"same\"\n");
}

TEST_CASE("a map to paste reads its names as they are") {
  const auto left = named_tensors({"stats{'every': 1}.0.3", "a\\*#[b"});
  const auto right = named_tensors({"state{'every': 1}.3.0", "a\\*#[c"});
  const auto done = alone(left, right);
  const auto near = neighbours(left, right, done);
  REQUIRE(near.pairs.size() == 2);
  CHECK(map_to_paste(left, right, near.pairs) ==
        "[[map]]\nreference = \"a\\\\\\\\\\\\*#[b\"\n"
        "candidate = \"a\\\\\\\\\\\\*#[c\"\nop = \"same\"\n"
        "[[map]]\nreference = \"stats\\\\{'every': 1\\\\}.0.3\"\n"
        "candidate = \"state\\\\{'every': 1\\\\}.3.0\"\nop = \"same\"\n");
}

TEST_CASE("the first thousand leftovers of each side are looked at") {
  const std::vector<Tensor> one = {named_tensor("v")};
  for (const std::size_t count : {1000U, 1001U}) {
    std::vector<Tensor> many(count, named_tensor("w", {7}));
    many.back() = named_tensor("w");
    Alignment done;
    done.only_reference = {0};
    for (std::size_t i = 0; i < count; ++i) done.only_candidate.push_back(i);
    CHECK(neighbours(one, many, done).pairs.size() == (count == 1000 ? 1 : 0));
    std::swap(done.only_reference, done.only_candidate);
    CHECK(neighbours(many, one, done).pairs.size() == (count == 1000 ? 1 : 0));
  }
}

TEST_CASE("names that take more than 100,000,000 steps are not compared") {
  const auto left = named_tensors({std::string(17, 'a')});
  const auto right = named_tensors({std::string(5'882'353, 'b')});  // 100,000,001 steps
  CHECK(neighbours(left, right, alone(left, right)).pairs.empty());
}

TEST_CASE("names too long to compare have no neighbour") {
  const auto left = named_tensors({std::string(200'000, 'a'), "layers.0.weight"});
  const auto right = named_tensors({std::string(200'000, 'b'), "layers.0.weights"});
  const auto done = alone(left, right);
  const auto near = neighbours(left, right, done);
  REQUIRE(near.pairs.size() == 1);
  CHECK(near.pairs[0].reference == 1);
}

TEST_CASE("neighbours are of one kind and one shape") {
  std::vector<Tensor> left = {named_tensor("a")}, right = {named_tensor("b")};
  CHECK(neighbours(left, right, alone(left, right)).pairs.size() == 1);
  right[0].kind = Kind::moment1;
  CHECK(neighbours(left, right, alone(left, right)).pairs.empty());
  left[0].kind = Kind::moment1;
  CHECK(neighbours(left, right, alone(left, right)).pairs.size() == 1);
  right[0].shape = {3, 2};
  CHECK(neighbours(left, right, alone(left, right)).pairs.empty());
}

TEST_CASE("leftovers alone are looked at, and told by their places in the lists") {
  const auto left = named_tensors({"x", "a.b"}), right = named_tensors({"y", "z", "a.c"});
  Alignment done;
  done.only_reference = {1};
  done.only_candidate = {2};
  const auto near = neighbours(left, right, done);
  REQUIRE(near.pairs.size() == 1);
  CHECK(near.pairs[0].reference == 1);
  CHECK(near.pairs[0].candidate == 2);
  CHECK(near.pairs[0].distance == part_distance("a.b", "a.c"));
}

TEST_CASE("how names are written as patterns, and patterns in TOML") {
  const std::string many = "a.1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16";
  const std::string captures = "a.{l}.{m}.{n}.{o}.{p}.{q}.{r}.{s}.{t}.{u}.{v}.{w}.{x}.{y}.15.16";
  struct Row {
    std::string name, written;
  };
  for (const Row& row : std::vector<Row>{{"a", "'a'"},
                                         {"", "''"},
                                         {".", "'.'"},
                                         {"1", "'{l}'"},
                                         {"1.2", "'{l}.{m}'"},
                                         {"a.1b.b2", "'a.1b.b2'"},
                                         {"a..7.", "'a..{l}.'"},
                                         {"09.0", "'{l}.{m}'"},
                                         {"a.:./.1:", "'a.:./.1:'"},
                                         {many, "'" + captures + "'"},
                                         {"a b~", "'a b~'"},
                                         {"a'", "\"a'\""},
                                         {"a#", "\"a#\""},
                                         {"'\"", "\"'\\\"\""},
                                         {"\x1f'", "\"\\u001f'\""},
                                         {"\n", "\"\\u000a\""},
                                         {"\x7f", "\"\\u007f\""},
                                         {"\xc3\xa9", "\"\xc3\xa9\""}}) {
    INFO(row.name);
    const auto one = named_tensors({row.name});
    CHECK(map_to_paste(one, one, std::vector<Neighbour>{{0, 0, 0}}) ==
          "[[map]]\nreference = " + row.written + "\ncandidate = " + row.written +
              "\nop = \"same\"\n");
  }
}

}  // namespace
}  // namespace ttcheck::align
