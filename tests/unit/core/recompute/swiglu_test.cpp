// SPDX-License-Identifier: Apache-2.0
// silu(gate) up and its gradients; NumPy's values.

#include "core/recompute/ops.hpp"

#include <doctest/doctest.h>

#include "tests/support/op_rows.hpp"

namespace ttcheck::recompute {
namespace {

using tests::check_rows;
using tests::Given;

TEST_CASE("gate and up, in either order") {
  check_rows({
      {.what = "silu(gate) up of two tensors, either first",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .ways = {{1.4621171572600098, -0.7152175321327052, -0.3112296656009273, 0.7144305951168249},
                {1.7615941559557646, -5.7154447609345995, -0.13447071068499755,
                 0.4216323756643485}}},
      {.what = "of the halves of one",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 4}, {1, -2, 2, 3, 0.5, 3, -1, 0.25}}},
       .ways = {{1.4621171572600098, -0.7152175321327052, -0.3112296656009273, 0.7144305951168249},
                {1.7615941559557646, -5.7154447609345995, -0.13447071068499755,
                 0.4216323756643485}}},
      {.what = "halves of one",
       .op = "swiglu",
       .shape = {2, 1},
       .arguments = {Given{{2, 2}, {1, 2, -2, 3}}},
       .ways = {{1.4621171572600098, -0.7152175321327052},
                {1.7615941559557646, -5.7154447609345995}}},
      {.what = "no halves",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}}},
      {.what = "halves of more rows",
       .op = "swiglu",
       .shape = {1, 2},
       .arguments = {Given{{2, 4}, {1, -2, 2, 3, 0.5, 3, -1, 0.25}}}},
      {.what = "the second was not recorded",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 4}, {1, -2, 2, 3, 0.5, 3, -1, 0.25}}, std::nullopt}},
      {.what = "the first was not",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {std::nullopt, Given{{2, 2}, {2, 3, -1, 0.25}}}},
      {.what = "a gate of another width",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{1, 4}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}}},
      {.what = "a gate of another count",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{1, 2}, {1, -2}}, Given{{2, 2}, {2, 3, -1, 0.25}}}},
      {.what = "an up of another width",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{1, 4}, {2, 3, -1, 0.25}}}},
      {.what = "an up of another count",
       .op = "swiglu",
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{1, 2}, {2, 3}}}},
      {.what = "nothing wide", .op = "swiglu", .shape = {2, 0}, .arguments = {Given{{2, 0}, {}}}},
      {.what = "it has one output",
       .op = "swiglu",
       .slot = 1,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}}},
  });
}

TEST_CASE("dgate = g up silu'(gate), dup = g silu(gate)") {
  check_rows({
      {.what = "of the first: the gate, or up",
       .op = "swiglu",
       .part = OpPart::argument,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}},
       .ways = {{1.8553410237429735, -0.5447054927093729, 2.2198835619079555, 0.1360130132518962},
                {1.7615941559557646, 5.7154447609345995, 0.8068242641099853, 0.07027206261072476}}},
      {.what = "of the second: up, or the gate",
       .op = "swiglu",
       .part = OpPart::argument,
       .slot = 1,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}},
       .ways = {{0.7310585786300049, -0.4768116880884702, -0.933688996802782, 1.4288611902336499},
                {1.0907842487848955, -4.352416424060678, -0.10849423219276988,
                 0.9355650323552964}}},
      {.what = "of both halves",
       .op = "swiglu",
       .part = OpPart::argument,
       .shape = {2, 4},
       .arguments = {Given{{2, 4}, {1, -2, 2, 3, 0.5, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}},
       .ways = {{1.8553410237429735, -0.5447054927093729, 0.7310585786300049, -0.4768116880884702,
                 2.2198835619079555, 0.1360130132518962, -0.933688996802782, 1.4288611902336499},
                {1.7615941559557646, 5.7154447609345995, 1.0907842487848955, -4.352416424060678,
                 0.8068242641099853, 0.07027206261072476, -0.10849423219276988,
                 0.9355650323552964}}},
      {.what = "of another shape",
       .op = "swiglu",
       .part = OpPart::argument,
       .shape = {4, 1},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}}},
      {.what = "there is no third",
       .op = "swiglu",
       .part = OpPart::argument,
       .slot = 2,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}}},
      {.what = "there is no weight",
       .op = "swiglu",
       .part = OpPart::weight,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}},
       .gradients = {Given{{2, 2}, {1, 2, -3, 0.5}}}},
      {.what = "no gradient",
       .op = "swiglu",
       .part = OpPart::argument,
       .shape = {2, 2},
       .arguments = {Given{{2, 2}, {1, -2, 0.5, 3}}, Given{{2, 2}, {2, 3, -1, 0.25}}}},
  });
}

}  // namespace
}  // namespace ttcheck::recompute
