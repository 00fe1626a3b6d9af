// SPDX-License-Identifier: Apache-2.0
#include "core/align/undecoded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensor;

Tensor codes(const std::string& name, DType dtype = DType::u8) {
  Tensor tensor = named_tensor(name);
  tensor.dtype = dtype;
  return tensor;
}

struct Sides {
  std::vector<Tensor> packed, plain;
};

TEST_CASE("packed weights and what lies beside them leave the alignment") {
  for (const Sides& sides : std::vector<Sides>{
           {{codes("a.weight"), named_tensor("a.weight.absmax"),
             codes("a.weight.quant_state.bitsandbytes__nf4")},
            {named_tensor("a.weight")}},
           {{codes("a.qweight", DType::i32), codes("a.qzeros", DType::i32),
             named_tensor("a.scales"), codes("a.g_idx", DType::i32)},
            {named_tensor("a.weight")}},
           {{codes("model.a.weight_packed", DType::i32), named_tensor("model.a.weight_scale")},
            {named_tensor("a.weight")}},
           {{codes("experts.gate_up_proj_blocks"), codes("experts.gate_up_proj_scales")},
            {named_tensor("experts.gate_up_proj")}}}) {
    INFO(sides.packed.front().identity.name);
    for (const bool candidate : {true, false}) {
      Alignment done;
      auto& here = candidate ? done.only_candidate : done.only_reference;
      for (std::size_t i = 0; i < sides.packed.size(); ++i) here.push_back(i);
      (candidate ? done.only_reference : done.only_candidate).push_back(0);
      const Undecoded found = candidate ? exclude_undecoded(sides.plain, sides.packed, done)
                                        : exclude_undecoded(sides.packed, sides.plain, done);
      CHECK(found.weights == 1);
      CHECK(found.candidate == candidate);
      CHECK(found.first == sides.plain.front().identity.name);
      CHECK(done.only_reference.empty());
      CHECK(done.only_candidate.empty());
      CHECK(done.excluded_by.front().second == std::ssize(sides.packed) + 1);
    }
  }
}

TEST_CASE("a weight that met one of another shape is no pair") {
  const std::vector<Tensor> packed = {codes("a.weight"), named_tensor("a.weight.absmax")};
  const std::vector<Tensor> plain = {named_tensor("a.weight", {4, 4})};
  Alignment done;
  done.pairs.push_back({0, 0, "same"});
  done.only_candidate = {1};
  CHECK(exclude_undecoded(plain, packed, done).weights == 1);
  CHECK(done.pairs.empty());
  CHECK(done.excluded_by.front().second == 3);
}

TEST_CASE("what both sides pack, or nothing else packs, stays") {
  const std::vector<Tensor> packed = {codes("a.weight"), named_tensor("a.weight.absmax")};
  Alignment done;
  done.pairs = {{0, 0, "same"}, {1, 1, "same"}};
  CHECK(exclude_undecoded(packed, packed, done).weights == 0);
  CHECK(done.pairs.size() == 2);
  const std::vector<Tensor> bytes = {codes("a.weight")}, plain = {named_tensor("a.weight")};
  done.pairs = {{0, 0, "same"}};
  CHECK(exclude_undecoded(plain, bytes, done).weights == 0);
  CHECK(done.pairs.size() == 1);
}

}  // namespace
}  // namespace ttcheck::align
