// SPDX-License-Identifier: Apache-2.0
#include "formats/rank_files/flat_views.hpp"

#include <doctest/doctest.h>

#include "tests/support/array_source.hpp"

namespace ttcheck::formats {
namespace {

using tests::ArraySource;

Record record(std::string name, Shape shape, const Source& source) {
  Record made;
  made.identity.name = std::move(name);
  made.shape = std::move(shape);
  made.piece.source = &source;
  return made;
}

Record flat(std::string name, const Source& source) {
  Record made = record(std::move(name), {4}, source);
  made.logical = Shape{8};
  made.box_lo = Extents{4};
  return made;
}

TEST_CASE("views of a unit's flat parameter are left out, nothing else is") {
  const ArraySource root = ArraySource::of(std::vector<float>(4)), layer = root, own = root;
  std::vector<Record> records = {
      record("emb.weight", {4}, root),           record("out.bias", {0}, own),
      record("layers.0.a.weight", {3}, layer),   record("layers.0.a.scale", {3}, own),
      record("layers.0.a.table", {2, 2}, layer), flat("_flat_param", root),
      flat("layers.0._flat_param", layer)};
  CHECK(leave_out_flat_views(records) == 3);
  REQUIRE(records.size() == 4);
  CHECK(records[0].identity.name == "layers.0.a.scale");
  CHECK(records[1].identity.name == "layers.0.a.table");
  CHECK(leave_out_flat_views(records) == 0);
}

TEST_CASE("without a flat parameter in shards nothing is a view") {
  const ArraySource source = ArraySource::of(std::vector<float>(4));
  std::vector<Record> records = {record("_flat_param", {4}, source), record("w", {4}, source)};
  CHECK(leave_out_flat_views(records) == 0);
}

}  // namespace
}  // namespace ttcheck::formats
