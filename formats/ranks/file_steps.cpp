// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/file_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/decode.hpp"
#include "core/model/gather.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/ranks/vote.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kSampled = 16;  ///< counters read of one file
constexpr std::size_t kFewest = 2;    ///< that a file must have to be judged

/// Last words of facts that count steps.
constexpr std::array<std::string_view, 5> kCounters = {"last_epoch", "step", "global_step",
                                                       "global_steps", "iteration"};

struct File {
  std::set<double> steps;
  std::size_t counters = 0;
  std::set<std::int32_t> ranks;
  Where where;
};

using Files = std::map<std::string, File>;

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The counters of files that have at least `fewest` of them.
Files counters_of(const std::vector<Record>& records, std::size_t fewest) {
  std::map<std::string, std::vector<const Record*>> all;
  for (const Record& record : records) {
    if (record.kind == Kind::step) all[record.piece.where().file].push_back(&record);
  }
  Files files;
  for (const auto& [path, held] : all) {
    File& file = files[path];
    file.where = {path, {}, {}};
    const std::size_t stride = (held.size() + kSampled - 1) / kSampled;
    for (std::size_t i = 0; i < held.size(); i += stride) {
      const auto step = scalar_of(*held[i]);
      if (!step) continue;
      file.steps.insert(*step);
      ++file.counters;
      if (held[i]->piece.rank != kNoRank) file.ranks.insert(held[i]->piece.rank);
    }
  }
  std::erase_if(files, [&](const auto& entry) { return entry.second.counters < fewest; });
  return files;
}

}  // namespace

std::optional<double> scalar_of(const Record& record) {
  if (is_complex(record.dtype) || bits(record.dtype) % 8 != 0 || element_count(record.shape) != 1 ||
      record.placement || record.box_lo) {
    return std::nullopt;
  }
  std::array<std::byte, 8> bytes = {};
  try {
    gather(std::span(&record.piece, 1), record.dtype, record.shape, 0, 1,
           std::span(bytes).first(byte_size(record.dtype, 1)));
  } catch (const Error&) {
    return std::nullopt;  // said when it is compared
  }
  std::uint64_t code = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    code = code << 8 | std::to_integer<unsigned>(bytes[i]);
  const double value = value_of(record.dtype, code);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

std::set<double> stated_steps(const std::vector<Fact>& facts) {
  std::set<double> stated;
  for (const Fact& fact : facts) {
    const std::string_view last = std::string_view(fact.name).substr(fact.name.rfind('.') + 1);
    const auto* number = std::get_if<std::int64_t>(&fact.value);
    if (number == nullptr || std::ranges::find(kCounters, last) == kCounters.end()) continue;
    stated.insert(static_cast<double>(*number));
  }
  return stated;
}

std::optional<NewestStep> newest_step(const std::vector<Record>& records) {
  std::optional<NewestStep> newest;
  for (const auto& [path, file] : counters_of(records, 1)) {
    const double step = *file.steps.rbegin();
    if (!newest || step > newest->step) newest = {step, file.where};
  }
  return newest;
}

std::vector<Finding> check_file_steps(const State& state, std::optional<std::int64_t> named) {
  const Files files = counters_of(state.records, kFewest);
  std::map<double, std::vector<std::string_view>> holders;
  for (const auto& [path, file] : files) {
    for (const double step : file.steps) holders[step].push_back(path);
  }
  if (holders.size() < 2) return {};
  const bool as_named = named && holders.contains(static_cast<double>(*named));
  const std::set<double> stated = stated_steps(state.facts);
  const auto usual = as_named
                         ? std::optional(static_cast<double>(*named))
                         : usual_of(holders, [&](double step) { return stated.contains(step); });
  const auto beside_others = [&](double step) {
    return std::ranges::any_of(files, [&](const auto& one) {
      return one.second.steps.size() > 1 && one.second.steps.contains(step);
    });
  };
  std::vector<Finding> findings;
  for (const auto& [path, file] : files) {
    const double step = *file.steps.begin();
    if (file.steps.size() != 1 || step == usual || beside_others(step)) continue;
    const auto other = std::ranges::find_if(
        holders, [&](const auto& one) { return usual ? one.first == *usual : one.first != step; });
    Finding finding =
        found(Code::mixed_step,
              fmt::format("the optimizer's step is {} in {} and {} in {}: files of several steps",
                          step, last_part(path), other->first, last_part(other->second.front())),
              file.where);
    finding.ranks.assign(file.ranks.begin(), file.ranks.end());
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ttcheck::formats
