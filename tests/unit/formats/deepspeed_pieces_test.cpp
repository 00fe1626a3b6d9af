// Blocks of parameters that a model states part by part: affine maps and sub-parameters.

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/formats.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::ModelStates;
using tests::row;
using tests::TempDir;
namespace pickled = tests::pickled;

std::string by_rank(const std::string& first, const std::string& second) {
  return "}(" + pickled::integer(0) + first + pickled::integer(1) + second + "u";
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
  std::string sizes = pickled::numbers({4, 2, 2});
  std::string widths =
      pickled::list({pickled::numbers({2, 2}), pickled::numbers({1, 1}), pickled::numbers({1, 1})});

  std::string rules() const {
    const std::string map =
        pickled::dict({{"logical_shape", pickled::numbers({3})},
                       {"ranks", by_rank(part(2, 0, stride, scale), part(1, 2, stride, scale))}});
    return pickled::dict(
        {{"affine_map", pickled::dict({{"version", pickled::integer(1)},
                                       {"params", pickled::dict({{"^odd$", map}})}})},
         {"parameter_with_sub_params",
          pickled::list({pickled::dict({{"patterns", pickled::list({pickled::text("^qkv$")})},
                                        {"shape", pickled::list({sizes, pickled::integer(-1)})},
                                        {"partition_dim", pickled::integer(0)}})})},
         {"vocabulary_parameter_patterns", pickled::list({pickled::text("^odd$")})},
         {"original_vocab_size", pickled::integer(3)},
         {"sub_param_shard_widths", pickled::dict({{"^qkv$", widths}})}});
  }

  State read() const {
    const TempDir folder;
    for (const int rank : {0, 1}) {
      ModelStates made;
      made.mp = 2;
      made.ranks = 1;
      made.stage = 0;
      made.module =
          pickled::dict({{"qkv", pickled::tensor({"FloatStorage", "0", 64, 8, {4, 2}, {2, 1}})},
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
    if (record.identity.name == name) found.push_back(record.box_lo ? record.box_lo->at(0) : 0);
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

}  // namespace
}  // namespace ttcheck::formats
