// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/first_few.hpp"
#include "core/base/require.hpp"
#include "core/recompute/ops.hpp"
#include "core/recompute/stated.hpp"

namespace ttcheck::recompute {

std::string words_of(const std::vector<Maker>& makers) {
  require(!makers.empty(), "a maker");
  const auto op = [](const Maker& maker) { return maker.record->trace->op; };
  if (makers.front().part == OpPart::output) return op(makers.front());
  std::set<std::string> all;
  for (const Maker& maker : makers) {
    all.insert(fmt::format("{} in {}", op(maker), module_of(maker.record->identity)));
  }
  constexpr std::size_t kNamed = 3;
  return "backward of " + first_few(std::vector<std::string>(all.begin(), all.end()), kNamed);
}

std::string stated_apart(const Tensor& reference, const Tensor& candidate) {
  if (!reference.trace || !candidate.trace) return "";
  return stated_otherwise(*reference.trace, *candidate.trace);
}

std::string remark_of(const std::vector<Maker>& reference, const std::vector<Maker>& candidate) {
  std::set<std::string> found;
  for (std::size_t n = 0; n < std::min(reference.size(), candidate.size()); ++n) {
    std::string one = stated_apart(*reference[n].record, *candidate[n].record);
    if (!one.empty()) found.insert(std::move(one));
  }
  return found.empty() ? "" : *found.begin();
}

std::string without_maker(const Tensor& record) {
  if (record.kind == Kind::output || record.kind == Kind::loss) {
    if (record.trace && !record.trace->op.empty() && find_op(record.trace->op) == nullptr) {
      return fmt::format("there is no formula for {}", record.trace->op);
    }
    return "the dump does not name its op";
  }
  const bool gradient =
      record.kind == Kind::grad_input || record.kind == Kind::grad ||
      (record.kind == Kind::grad_output && record.trace && !record.trace->inputs.empty());
  return gradient ? "the calls that it comes from are not in the dump" : "";
}

bool lacks_weight(const std::vector<Maker>& makers) {
  return std::ranges::any_of(makers, [](const Maker& maker) {
    const auto& call = maker.record->trace->call;
    return call && !call->weight.empty() && maker.weight == nullptr;
  });
}

std::string unbound(const std::vector<Maker>& reference, const std::vector<Maker>& candidate) {
  for (const auto* makers : {&reference, &candidate}) {
    for (const Maker& maker : *makers) {
      const std::string& op = maker.record->trace->op;
      if (lacks_weight({maker})) return fmt::format("the dump has no weight of {}", op);
      if (find_op(op) == nullptr) return fmt::format("there is no formula for {}", op);
      if (!maker.record->stored) return "the dump keeps statistics or a hash in place of values";
    }
  }
  return "the dump does not have all of its values";
}

}  // namespace ttcheck::recompute
