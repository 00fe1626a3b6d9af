// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/megatron/stage_layers.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kShown = 16;

std::vector<std::int64_t> starts(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> firsts;
  std::int64_t next = 0;
  for (const std::int64_t length : lengths) {
    firsts.push_back(next);
    next = checked_add(next, length);
  }
  return firsts;
}

std::string listed(std::vector<std::int64_t> lengths) {
  const bool cut = lengths.size() > kShown;
  if (cut) lengths.resize(kShown);
  return fmt::format("{}{}", fmt::join(lengths, ", "), cut ? ", ..." : "");
}

}  // namespace

std::vector<std::int64_t> first_layers(const MegatronArgs& args,
                                       const std::vector<std::optional<std::int64_t>>& held,
                                       std::vector<Finding>& findings) {
  std::vector<std::int64_t> stated = layers_by_chunk(args);
  std::vector<std::int64_t> counted;
  std::int64_t sum = 0;
  bool all = true, agree = stated.size() == held.size();
  for (std::size_t c = 0; c < held.size(); ++c) {
    counted.push_back(held[c].value_or(0));
    sum = checked_add(sum, counted.back());
    all = all && held[c].has_value();
    agree = agree && (!held[c] || *held[c] == stated[c]);
  }
  if (agree) return starts(stated);
  const Where where = args.where.value_or(Where{});
  if (all && (args.layers == 0 || sum == args.layers)) {
    if (!stated.empty()) {
      findings.push_back(remark(
          where,
          fmt::format("the stages' files hold {} layers, not {} as the arguments say; layers "
                      "are numbered by the files",
                      listed(counted), listed(stated)),
          Code::layer_mapping));
    }
    return starts(counted);
  }
  findings.push_back(found(
      Code::layer_mapping,
      fmt::format("the arguments say {} layers in all, {} by stage, the files hold {}", args.layers,
                  stated.empty() ? "an unknown number" : listed(stated), listed(counted)),
      where));
  // Chunks that all hold the same number have lost nothing: the arguments are wrong.
  const bool alike = all && std::ranges::count(counted, counted.front()) == std::ssize(counted);
  return starts(stated.size() == held.size() && !alike ? stated : counted);
}

}  // namespace ttcheck::formats
