// SPDX-License-Identifier: Apache-2.0
// Blocks of parameters that a model states part by part: affine maps and sub-parameters.

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::ModelStates;
using tests::row;
using tests::TempDir;
namespace pickled = tests::pickled;

std::string by_rank(const std::string& first, const std::string& second, int from = 0) {
  return "}(" + pickled::integer(from) + first + pickled::integer(from + 1) + second + "u";
}

/// One block of a part that is all of it, of one dimension.
std::string part(std::int64_t count, std::int64_t offset, const std::string& stride,
                 const std::string& scale) {
  const std::string strides = pickled::list({stride});
  return pickled::dict(
      {{"shard_shape", pickled::numbers({count})},
       {"pieces", pickled::list({pickled::dict(
                      {{"shape", pickled::numbers({count})},
                       {"source", pickled::list({pickled::integer(offset), strides})},
                       {"dest", pickled::list({pickled::integer(0), strides})},
                       {"scale", scale}})})}});
}

/// Two tensor-parallel ranks with `qkv` [4, 2] each, and `odd` of 2 and of 1 of 3 elements.
struct Model {
  std::string scale = pickled::integer(1), stride = pickled::integer(1);
  int ranks = 2;
  std::vector<std::int64_t> strides = {2, 1};       ///< of `qkv`
  std::string kind = "no kind", kind_of = "^qkv$";  ///< one more list of expressions
  std::string kinds = "";                           ///< what stands in place of that list
  std::string again = "";     ///< one more expression of the sub-parameters, without widths
  std::string patterns = "";  ///< what stands in place of the list of these
  std::string vocabulary = "^odd$";
  std::int64_t rows = 3;
  std::string second_name = "^other$", second_map = map(pickled::numbers({3}));
  std::string second_key = "";  ///< what stands in place of that name
  std::string odd_map = "";     ///< what stands in place of the map of `odd`
  std::string sizes = pickled::numbers({4, 2, 2});
  std::string widths =
      pickled::list({pickled::numbers({2, 2}), pickled::numbers({1, 1}), pickled::numbers({1, 1})});

  std::string map(const std::string& shape) const {
    return pickled::dict(
        {{"logical_shape", shape},
         {"ranks", by_rank(part(2, 0, stride, scale), part(1, 2, stride, scale))}});
  }

  std::string rules() const {
    const std::string maps = "}(" + (second_key.empty() ? pickled::text(second_name) : second_key) +
                             second_map + pickled::text("^odd$") +
                             (odd_map.empty() ? map(pickled::numbers({3})) : odd_map) + "u";
    const std::string qkv = pickled::text("^qkv$");
    const std::string both =
        again.empty() ? pickled::list({qkv}) : pickled::list({qkv, pickled::text(again)});
    return pickled::dict(
        {{"affine_map", pickled::dict({{"version", pickled::integer(1)}, {"params", maps}})},
         {kind, kinds.empty() ? pickled::list({pickled::text(kind_of)}) : kinds},
         {"parameter_with_sub_params",
          pickled::list({pickled::dict({{"patterns", patterns.empty() ? both : patterns},
                                        {"shape", pickled::list({sizes, pickled::integer(-1)})},
                                        {"partition_dim", pickled::integer(0)}})})},
         {"vocabulary_parameter_patterns", pickled::list({pickled::text(vocabulary)})},
         {"original_vocab_size", pickled::integer(rows)},
         {"sub_param_shard_widths", pickled::dict({{"^qkv$", widths}})}});
  }

  State read() const {
    const TempDir folder;
    for (int rank = 0; rank < ranks; ++rank) {
      ModelStates made;
      made.mp = ranks;
      made.ranks = 1;
      made.stage = 0;
      made.module =
          pickled::dict({{"qkv", pickled::tensor({"FloatStorage", "0", 64, 8, {4, 2}, strides})},
                         {"odd", row(0, 2 - rank)}});
      made.shapes = pickled::list({pickled::dict(
          {{"qkv", pickled::numbers({4, 2})}, {"odd", pickled::numbers({2 - rank})}})});
      made.more_key = "universal_checkpoint_info";
      made.more = rules();
      folder.write("tag/mp_rank_0" + std::to_string(rank) + "_model_states.pt", made.file());
    }
    Result<Run> run = open(folder.path("tag"));
    REQUIRE(run.has_value());
    return run->open(0);
  }
};

/// Where the records of that name begin, in the order of ranks and blocks.
std::vector<std::int64_t> starts(const State& state, const std::string& name) {
  std::vector<std::int64_t> found;
  for (const Record& record : state.records) {
    if (record.identity.name == name) found.push_back(record.box_lo ? record.box_lo->front() : 0);
  }
  return found;
}

const Finding* finding(const State& state, Code code) {
  const auto found = std::ranges::find(state.findings, code, &Finding::code);
  return found == state.findings.end() ? nullptr : &*found;
}

using Rows = std::vector<std::int64_t>;

TEST_CASE("deepspeed: blocks by sub-parameters and their widths, and by affine maps") {
  const State made = Model().read();
  CHECK(finding(made, Code::name_mapping) == nullptr);
  CHECK(finding(made, Code::shape_or_dtype) == nullptr);
  CHECK(finding(made, Code::padding) == nullptr);
  CHECK(starts(made, "qkv") == Rows{0, 4, 6, 2, 5, 7});
  CHECK(starts(made, "odd") == Rows{0, 2});
  for (const Record& record : made.records) {
    if (record.identity.name == "odd") CHECK(*record.logical == Shape{3});
    if (record.identity.name == "qkv") CHECK(*record.logical == Shape{8, 2});
  }
}

TEST_CASE("deepspeed: sub-parameters before widths were stated are cut evenly") {
  Model made;
  made.widths = pickled::list({});
  made.sizes = pickled::integer(2);
  CHECK(starts(made.read(), "qkv") == Rows{0, 4, 2, 6});
  made.sizes = pickled::numbers({6, 2});
  CHECK(starts(made.read(), "qkv") == Rows{0, 6, 3, 7});
}

TEST_CASE("deepspeed: sub-parameters and maps that do not fit are said") {
  Model made;
  made.sizes = pickled::numbers({6});
  made.widths = pickled::list({pickled::numbers({3, 3})});
  const State unfit = made.read();
  REQUIRE(finding(unfit, Code::shape_or_dtype) != nullptr);
  CHECK(finding(unfit, Code::shape_or_dtype)->tensor == "qkv");
  CHECK(starts(unfit, "qkv") == Rows{0, 4});
  Model scaled;
  scaled.scale = pickled::integer(2);
  const State unread = scaled.read();
  REQUIRE(finding(unread, Code::name_mapping) != nullptr);
  CHECK(finding(unread, Code::name_mapping)->message.starts_with("affine_map is not understood"));
  Model strided;
  strided.stride = pickled::integer(2);
  CHECK(finding(strided.read(), Code::name_mapping) != nullptr);
}

/// Where the blocks of `qkv` begin when a list of that kind fits it, too.
Rows starts_of_kind(const std::string& kind) {
  Model made;
  made.kind = kind;
  const State read = made.read();
  CHECK(finding(read, Code::shape_or_dtype) == nullptr);
  return starts(read, "qkv");
}

TEST_CASE("deepspeed: expressions that count before sub-parameters, and behind affine maps") {
  CHECK(starts_of_kind("tp_replicated_parameter_patterns") == Rows{0, 0});
  CHECK(starts_of_kind("parameter_to_average_patterns") == Rows{0, 0});
  CHECK(starts_of_kind("parameter_with_2_sub_params_cat_dim_0") == Rows{0, 4, 2, 6});
  CHECK(starts_of_kind("parameter_with_row_parallelism_patterns") == Rows{0, 4, 6, 2, 5, 7});
  Model mapped;
  mapped.kind = "parameter_to_average_patterns";
  mapped.kind_of = "^odd$";
  CHECK(starts(mapped.read(), "odd") == Rows{0, 2});
}

TEST_CASE("deepspeed: the part of one tensor-parallel rank is not cut") {
  Model made;
  made.ranks = 1;
  made.strides = {1, 4};
  made.rows = 2;
  made.sizes = pickled::integer(2);
  made.widths = pickled::list({});
  const State read = made.read();
  CHECK(read.unreadable == 0);
  CHECK(starts(read, "qkv") == Rows{0});
}

/// Shapes of the records of `qkv`, of whose rows all but `rows` pad the vocabulary.
std::vector<Shape> shapes_padded(const std::string& kind, std::int64_t rows) {
  Model made;
  made.kind = kind;
  made.vocabulary = "^qkv$";
  made.rows = rows;
  const State read = made.read();
  REQUIRE(finding(read, Code::padding) != nullptr);
  CHECK(finding(read, Code::padding)->severity == Severity::note);
  std::vector<Shape> shapes;
  for (const Record& record : read.records) {
    if (record.identity.name != "qkv") continue;
    CHECK(record.logical.value_or(record.shape)[0] == rows);
    shapes.push_back(record.shape);
  }
  return shapes;
}

TEST_CASE("deepspeed: a vocabulary is trimmed whatever its parts are put together by") {
  CHECK(shapes_padded(Model().kind, 7) ==
        std::vector<Shape>{{2, 2}, {1, 2}, {1, 2}, {2, 2}, {1, 2}});
  CHECK(shapes_padded("parameter_with_2_sub_params_cat_dim_0", 7) ==
        std::vector<Shape>{{2, 2}, {2, 2}, {2, 2}, {1, 2}});
  CHECK(shapes_padded("tp_replicated_parameter_patterns", 3) == std::vector<Shape>{{3, 2}, {3, 2}});
}

/// What is said of names, or nothing.
std::string said_of_names(const State& state) {
  const Finding* said = finding(state, Code::name_mapping);
  return said == nullptr ? "" : said->message;
}

TEST_CASE("deepspeed: maps and sub-parameters that contradict each other are said") {
  Model twice;
  twice.second_name = "od";
  const State several = twice.read();
  REQUIRE(finding(several, Code::name_mapping) != nullptr);
  CHECK(finding(several, Code::name_mapping)->tensor == "odd");
  Model again;
  again.again = "qkv?";
  CHECK(said_of_names(again.read()).starts_with("expressions of several sub-parameters fit it"));
  again.widths = pickled::list({});
  CHECK(said_of_names(again.read()).empty());
  const auto unread = [](const std::string& sizes, const std::string& widths) {
    Model made;
    made.sizes = sizes;
    made.widths = widths;
    return said_of_names(made.read()).starts_with("parameter_with_sub_params is not understood");
  };
  const std::string two = pickled::numbers({2, 2}), one = pickled::numbers({1, 1});
  CHECK(unread(pickled::numbers({4, 2, 2}), pickled::list({one, two, one})));
  CHECK(unread(pickled::numbers({4, 4}), pickled::list({two, one, one})));
  CHECK(unread(pickled::integer(2), pickled::list({two, one, one})));
  CHECK(unread(pickled::integer(3), pickled::list({two, one, one})));
  CHECK_FALSE(unread(pickled::integer(2), pickled::list({two, two})));
}

TEST_CASE("deepspeed: a map or sub-parameters that overflow leave the other rules") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  Model mapped;
  mapped.second_map = mapped.map(pickled::numbers({kHuge, 8}));
  Model sizes;
  sizes.widths = pickled::list({});
  sizes.sizes = pickled::numbers({kHuge, kHuge});
  Model widths;
  widths.sizes = pickled::numbers({kHuge});
  widths.widths = pickled::list({pickled::numbers({kHuge, kHuge})});
  const State one = mapped.read();
  CHECK(one.unreadable == 0);
  CHECK(said_of_names(one).starts_with("affine_map is not understood for 1 "));
  CHECK(starts(one, "qkv") == Rows{0, 4, 6, 2, 5, 7});
  for (const Model& made : {sizes, widths}) {
    const State read = made.read();
    CHECK(read.unreadable == 0);
    CHECK(said_of_names(read).starts_with("parameter_with_sub_params is not understood for 1 "));
    CHECK(starts(read, "odd") == Rows{0, 2});
  }
}

TEST_CASE("deepspeed: what is no text is no expression, and fits no parameter") {
  const Rows by_widths = {0, 4, 6, 2, 5, 7};
  const std::string none = "N";
  for (const std::string& kinds :
       {pickled::list({none, pickled::text("^odd$")}),
        pickled::list({pickled::integer(3), pickled::text("^odd$")}), pickled::text("^qkv$")}) {
    Model listed;
    listed.kind = "tp_replicated_parameter_patterns";
    listed.kinds = kinds;
    const State read = listed.read();
    CHECK(said_of_names(read).starts_with(listed.kind));
    CHECK(starts(read, "qkv") == by_widths);
  }
  Model mapped;
  mapped.second_key = none;
  const State map = mapped.read();
  CHECK(said_of_names(map).starts_with("affine_map is not understood for 1 "));
  CHECK(finding(map, Code::shape_or_dtype) == nullptr);
  CHECK(starts(map, "qkv") == by_widths);
  for (const std::string& patterns : {pickled::list({none, pickled::text("^qkv$")}), none}) {
    Model parts;
    parts.patterns = patterns;
    CHECK(said_of_names(parts.read())
              .starts_with("parameter_with_sub_params is not understood for 1 "));
  }
}

/// Where the parts of `odd` begin with such a map, which does not fit all of them.
Rows starts_unfit(const std::string& ranks) {
  Model made;
  made.odd_map = pickled::dict({{"logical_shape", pickled::numbers({4})}, {"ranks", ranks}});
  const State read = made.read();
  const Finding* said = finding(read, Code::shape_or_dtype);
  REQUIRE(said != nullptr);
  CHECK(said->tensor == "odd");
  CHECK(said->message.find("are not those that universal_checkpoint_info states") !=
        std::string::npos);
  return starts(read, "odd");
}

TEST_CASE("deepspeed: a map that one rank's part does not fit is said, and used for none") {
  const auto of = [](std::int64_t count, std::int64_t offset) {
    return part(count, offset, pickled::integer(1), pickled::integer(1));
  };
  const Rows by_rules = {0, 1};
  CHECK(starts_unfit(by_rank(of(2, 2), of(1, 0), 1)) == by_rules);  // ranks 1 and 2
  CHECK(starts_unfit(by_rank(of(1, 0), of(2, 1))) == by_rules);     // each other's
  CHECK(starts_unfit(by_rank(of(2, 2), of(2, 0))) == by_rules);     // the second is shorter
}

TEST_CASE("deepspeed: a map of too many dimensions is not understood") {
  Model made;
  std::string ones = "(";
  for (int d = 0; d < 65; ++d) ones += pickled::integer(1);
  const std::string none =
      pickled::dict({{"shard_shape", pickled::numbers({0})}, {"pieces", pickled::list({})}});
  made.second_map = pickled::dict({{"logical_shape", ones + "t"}, {"ranks", by_rank(none, none)}});
  CHECK(said_of_names(made.read()).starts_with("affine_map is not understood for 1 "));
}

}  // namespace
}  // namespace ttcheck::formats
