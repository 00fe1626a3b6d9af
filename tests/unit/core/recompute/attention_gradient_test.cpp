// SPDX-License-Identifier: Apache-2.0
// Gradients of attention, by NumPy's complex step.

#include "core/recompute/ops.hpp"

#include <doctest/doctest.h>

#include "tests/support/op_rows.hpp"

namespace ttcheck::recompute {
namespace {

using tests::check_rows;
using tests::Given;

// Two query heads that share keys and values, and two batches of one head.
const Given kSharedQueries{
    {1, 2, 3, 2}, {-0.15, 0.81, 0.64, 1.7, -2.09, 0.86, -0.48, 0.13, 0.84, 1.08, 1.04, 0.16}};
const Given kSharedKeys{{1, 1, 3, 2}, {1.61, -0.28, -0.14, 0.8, -0.55, 2.16}};
const Given kSharedValues{{1, 1, 3, 2}, {1.02, 2.18, -0.03, -0.38, 0.17, 0.73}};
const Given kSharedGradient{
    {1, 2, 3, 2}, {-0.59, 0.38, -0.02, 1.62, -0.66, 1.05, -0.64, -0.96, -0.71, -1.19, 0.15, 1.03}};
const Given kQueries{{2, 3, 2},
                     {0.16, 0.62, 1.63, 0.27, 0.2, -0.28, -1.61, 0.76, -1.76, 0.65, -0.01, 1.13}};
const Given kKeys{
    {2, 3, 2}, {-0.07, -0.82, 0.36, -0.56, -0.18, 0.04, -0.13, -0.19, -0.83, -0.19, -2.14, -0.16}};
const Given kValues{
    {2, 3, 2}, {-1.2, 1.12, 1.27, -1.95, 0.14, -0.13, -1.05, 0.53, -0.46, -1.77, -0.27, -0.15}};
const Given kGradient{
    {2, 3, 2}, {0.11, -1.23, 0.62, 0.74, -1.15, -0.66, -0.08, -0.57, 1.74, 0.21, -1.01, -0.79}};

TEST_CASE("gradients of queries, keys and values") {
  check_rows({
      {.what = "of queries",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {1, 2, 3, 2},
       .arguments = {kSharedQueries, kSharedKeys, kSharedValues},
       .gradients = {kSharedGradient},
       .attributes = {{"causal", "true"}},
       .ways = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                {0, 0, 1.1980505180235597, -0.7393683196945398, -0.0335978366076036,
                 0.14017891122786266, 0, 0, -1.15964681178078, 0.7156677466989957,
                 0.6866455258432129, -0.5295168451886817}},
       .lengths = {1, 3}},
      {.what = "of keys, that two heads share",
       .op = "attention",
       .part = OpPart::argument,
       .slot = 1,
       .shape = {1, 1, 3, 2},
       .arguments = {kSharedQueries, kSharedKeys, kSharedValues},
       .gradients = {kSharedGradient},
       .attributes = {{"causal", "true"}},
       .ways = {{0, 0, 0, 0, 0, 0},
                {0.2535892053949583, 0.5125801856906246, 0.07128573505596522, -0.5900895915184522,
                 -0.3248749404509234, 0.07750940582782752}},
       .lengths = {1, 3}},
      {.what = "of values",
       .op = "attention",
       .part = OpPart::argument,
       .slot = 2,
       .shape = {1, 1, 3, 2},
       .arguments = {kSharedQueries, kSharedKeys, kSharedValues},
       .gradients = {kSharedGradient},
       .attributes = {{"causal", "true"}},
       .ways = {{-0.64, -0.9599999999999999, -0.7099999999999999, -1.19, 0.15, 1.03},
                {-1.5405422592874103, 0.029853424581370448, -0.4261133955158177, 0.8834018655074851,
                 -0.5033443451967722, 1.0167447099111446}},
       .lengths = {1, 3}},
      {.what = "two sequences, queries",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}},
       .ways = {{0.21316275278618263, 0.04988944826391159, -0.05808813905567503,
                 0.013888538502913243, -0.029156288124173653, -0.05923837804940012,
                 0.07594546073969327, -0.0021313795386989883, -0.16250971256901003,
                 0.0029766989732694935, 0.1280014348098353, -0.004114142657629351},
                {-0.007731087711185115, 0.0811764209674438, 0.1329628136088196,
                 -0.04134137902122963, -0.16559213249668642, -0.016897156377212903,
                 -0.0033012033408218126, 0.03466263507862901, 0.337802664823073,
                 -0.1050310806592748, -0.14816236671147887, -0.015118608848110093}},
       .lengths = {3, 2}},
      {.what = "two sequences, keys",
       .op = "attention",
       .part = OpPart::argument,
       .slot = 1,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}},
       .ways = {{0.07456811047426329, -0.25720206041127863, -0.1381692147999347, 0.2832094379674264,
                 0.0636011043256714, -0.026007377556147702, 0.12190749240897131,
                 -0.13217342472646296, -0.06302990210654924, 0.27663926872337014,
                 -0.05887759030242218, -0.1444658439969072},
                {0.0679660557488916, -0.12170314866598919, -0.3174817679884306, 0.21468209395746118,
                 -0.016141225934807397, -0.06176412106372395, -0.0679660557488916,
                 0.12170314866598922, 0.3174817679884307, -0.21468209395746118,
                 0.016141225934807397, 0.061764121063723934}},
       .lengths = {3, 2}},
      {.what = "two sequences, values",
       .op = "attention",
       .part = OpPart::argument,
       .slot = 2,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}},
       .ways = {{-0.20978754375276862, -0.3758734297150315, -0.08875917807364524,
                 -0.295543424831687, -0.121453278173586, -0.4785831454532816, -0.22744613915518572,
                 -0.28927336397146786, -0.08302371669364234, -0.32452171201702756,
                 0.9604698558488279, -0.5362049240115045},
                {0.0156627320768951, -0.7604625332424175, 0.7674041661892895, 0.6154381458486201,
                 -1.1847733076851958, -0.7927920737004492, 0.014337267923104897,
                 -1.0395374667575825, 1.5925958338107105, 0.33456185415138, -0.9752266923148041,
                 -0.6572079262995509}},
       .lengths = {3, 2}},
      {.what = "of another shape",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {3, 2, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "a gradient of another width",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {Given{{2, 3, 4}, {-0.06, 2.3,  -0.18, 0.13,  0.51, -0.04, 2.28, -0.53,
                                       0.74,  0.16, 0.62,  -1.18, 1.77, -0.12, 0.03, -0.93,
                                       -0.73, 0.56, 0.99,  0.75,  1.21, 0.71,  0.03, 0.84}}},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "a gradient of other positions",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {Given{{2, 4, 2},
                           {0.59, -0.1, 0.73, 1.29, 0.23, -0.36, 0.72, 1.9, -0.21, -0.09, -0.14,
                            1.22, -1.84, 0.37, 1.19, -0.81}}},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "masks have none",
       .op = "attention",
       .part = OpPart::argument,
       .slot = 3,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "there is no weight",
       .op = "attention",
       .part = OpPart::weight,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "no gradient",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {2, 3, 2},
       .arguments = {kQueries, kKeys, kValues},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
      {.what = "queries that were not recorded",
       .op = "attention",
       .part = OpPart::argument,
       .shape = {2, 3, 2},
       .arguments = {std::nullopt, kKeys, kValues},
       .gradients = {kGradient},
       .attributes = {{"causal", "false"}, {"heads", "1"}}},
  });
}

}  // namespace
}  // namespace ttcheck::recompute
