// SPDX-License-Identifier: Apache-2.0
#include "core/explain/values.hpp"

#include <algorithm>
#include <vector>

#include "core/base/require.hpp"
#include "core/compare/ranges.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::explain {

void read_values(const Tensor& tensor, const ValueMap* map, std::int64_t begin,
                 std::span<double> out) {
  require(!is_complex(tensor.dtype), "a real dtype");
  const auto count = static_cast<std::int64_t>(out.size());
  std::vector<std::byte> bytes(byte_size(tensor.dtype, count));
  compare::fetch(tensor, map, begin, count, bytes);
  to_doubles(tensor.dtype, bytes.data(), count, out.data());
}

void visit_pair(const compare::Pair& pair, std::int64_t count, const PairVisitor& visit) {
  visit_pair(pair, {0, count}, visit);
}

void visit_pair(const compare::Pair& pair, const compare::SampledRange& range,
                const PairVisitor& visit) {
  std::vector<double> a, b;
  const std::int64_t last = range.begin + range.count;
  for (std::int64_t at = range.begin; at < last; at += kRangeElements) {
    const auto n = static_cast<std::size_t>(std::min(kRangeElements, last - at));
    a.resize(n);
    b.resize(n);
    read_values(*pair.reference, pair.reference_map, at, a);
    read_values(*pair.candidate, pair.candidate_map, at, b);
    const auto end = at + static_cast<std::int64_t>(n);
    for (const LinearRange& hole : compare::holes_of(pair, at, end)) {
      for (auto* side : {&a, &b}) {
        std::fill(side->begin() + (hole.begin - at), side->begin() + (hole.end - at), 0.0);
      }
    }
    visit(at, a, b);
  }
}

}  // namespace ttcheck::explain
