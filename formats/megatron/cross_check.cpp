// SPDX-License-Identifier: Apache-2.0
// The iteration that the directory's name states counts, else the one that most ranks state; on a
// tie all are said, as nothing tells which is right. Ranks are said to be swapped only where all
// stated numbers differ and the stated number is that of another directory. Of a rank's arguments
// the first one that contradicts is said, as one wrong file does so in many places.
// A stated shape is divided by the ranks of the axes that cut each dimension, and compared with
// what is stored. Names that differ in digits alone are one family and said once, or a wrong size
// would be said for each layer. Nothing is corrected here but the number of experts on a rank,
// where the files agree on another one than the arguments give.

#include "formats/megatron/cross_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "formats/bytes/findings.hpp"
#include "formats/megatron/cut_rules.hpp"
#include "formats/ranks/vote.hpp"

namespace ttcheck::formats {
namespace {

std::string file_of(const std::vector<const SavedRank*>& ranks) {
  const std::string first = fmt::format("{}/{}", ranks.front()->directory, kMegatronFile);
  return ranks.size() == 1 ? first : fmt::format("{} and {} more", first, ranks.size() - 1);
}

void check_iterations(const std::vector<SavedRank>& ranks, std::optional<std::int64_t> step,
                      std::vector<Finding>& findings) {
  std::map<std::int64_t, std::vector<const SavedRank*>> votes;
  for (const SavedRank& rank : ranks) {
    if (const auto iteration = rank.files->iteration()) votes[*iteration].push_back(&rank);
  }
  const auto expected = step ? step : usual_of(votes);
  for (const auto& [iteration, saved] : votes) {
    if (iteration == expected) continue;
    std::string others;
    for (const auto& [other, holders] : votes) {
      const bool meant = expected ? other == *expected : other != iteration;
      if (meant && others.empty()) others = fmt::format(", {} in {}", other, file_of(holders));
    }
    if (step) others += fmt::format(", the directory's name says {}", *step);
    findings.push_back(found(Code::mixed_step,
                             fmt::format("iteration is {} in {}{}: files of several steps",
                                         iteration, file_of(saved), others),
                             saved.front()->where));
    for (const SavedRank* rank : saved) findings.back().ranks.push_back(rank->rank);
  }
}

/// Converters write one rank number into all files: only ranks that trade places are swapped.
void check_swaps(const std::vector<SavedRank>& ranks, std::vector<Finding>& findings) {
  std::map<std::int32_t, std::int64_t> writer;
  for (const SavedRank& rank : ranks) {
    const auto& args = rank.files->args();
    if (args && args->rank) writer[rank.rank] = *args->rank;
  }
  std::set<std::int64_t> distinct;
  for (const auto& [place, wrote] : writer) distinct.insert(wrote);
  if (distinct.size() != writer.size()) return;
  for (const SavedRank& rank : ranks) {
    const auto wrote = writer.find(rank.rank);
    if (wrote == writer.end() || wrote->second == rank.rank) continue;
    const bool known =
        wrote->second <= INT32_MAX && writer.contains(static_cast<std::int32_t>(wrote->second));
    if (!known) continue;
    findings.push_back(found(Code::permutation,
                             fmt::format("{} is the directory of rank {}, but rank {} wrote what "
                                         "is in it: files of ranks are swapped",
                                         rank.directory, rank.rank, wrote->second),
                             rank.where));
    findings.back().ranks = {rank.rank};
  }
}

void check_arguments(const MegatronArgs& args, const std::vector<SavedRank>& ranks,
                     std::vector<Finding>& findings) {
  for (const SavedRank& rank : ranks) {
    if (!rank.files->args()) continue;
    for (const Fact& fact : rank.files->args()->facts) {
      const Fact* first = find_fact(args.facts, fact.name);
      if (first == nullptr || to_string(first->value) == to_string(fact.value)) continue;
      findings.push_back(
          found(Code::config,
                fmt::format("{} is {} in {}, and {} in the first rank's arguments", fact.name,
                            to_string(fact.value), rank.directory, to_string(first->value)),
                fact.where));
      findings.back().ranks = {rank.rank};
      break;
    }
  }
}

/// The rank's part of a logical shape, by the axes that cut its dimensions; nothing for a placement
/// of another number of dimensions.
std::optional<Shape> local_shape(const MegatronArgs& args, const Placement& placement,
                                 Shape shape) {
  const auto& dims = placement.dims;
  if (dims.size() == 1 && dims[0].name == "*") return shape;
  if (dims.size() != shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const ShardSpec& shard : dims[d].shards) {
      const std::int64_t ranks = shard.axis == "tp" ? args.tp : shard.axis == "etp" ? args.etp : 0;
      if (ranks == 0 || shape[d] % ranks != 0) return std::nullopt;
      shape[d] /= ranks;
    }
  }
  return shape;
}

}  // namespace

void check_saved(const MegatronArgs& args, const std::vector<SavedRank>& ranks,
                 std::optional<std::int64_t> step, std::vector<Finding>& findings) {
  check_iterations(ranks, step, findings);
  check_swaps(ranks, findings);
  check_arguments(args, ranks, findings);
}

std::int64_t experts_by_rank(const MegatronArgs& args, const std::vector<SavedRank>& ranks,
                             std::vector<Finding>& findings) {
  const std::int64_t stated = args.experts / args.ep;
  std::map<std::int64_t, std::vector<std::int32_t>> held;
  for (const SavedRank& rank : ranks) {
    if (const std::int64_t experts = rank.files->experts()) held[experts].push_back(rank.rank);
  }
  for (const auto& [experts, holders] : held) {
    if (experts == stated) continue;
    findings.push_back(
        found(Code::shape_or_dtype,
              fmt::format("the arguments say {} experts over {} ranks, {} on each; {} are there",
                          args.experts, args.ep, stated, experts),
              args.where.value_or(Where{})));
    findings.back().ranks = holders;
  }
  return held.size() == 1 ? held.begin()->first : stated;
}

void ShapeCheck::check(const Record& record, std::vector<Finding>& findings) {
  const std::string& name = record.identity.name;
  const auto stated = stated_shape(args_, name);
  if (!stated) return;
  const auto local = local_shape(args_, *record.placement, *stated);
  if (local && *local == record.shape) return;
  if (!first_of_family(name)) return;
  const std::string expected =
      local ? fmt::format("[{}]", fmt::join(*local, ", ")) : "no whole part of it";
  findings.push_back(
      found(Code::shape_or_dtype,
            fmt::format("{} has shape [{}] here; the arguments say [{}] in all, {} on a rank", name,
                        fmt::join(record.shape, ", "), fmt::join(*stated, ", "), expected),
            record.piece.where(), name));
  findings.back().ranks = {record.piece.rank};
}

void ShapeCheck::check_whole(const std::string& name, const Shape& shape, const Where& where,
                             std::vector<Finding>& findings) {
  const auto stated = stated_shape(args_, name);
  if (!stated || *stated == shape || !first_of_family(name)) return;
  findings.push_back(found(Code::shape_or_dtype,
                           fmt::format("{} has shape [{}], the arguments say [{}]", name,
                                       fmt::join(shape, ", "), fmt::join(*stated, ", ")),
                           where, name));
}

bool ShapeCheck::first_of_family(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return said_.insert(std::move(name)).second;
}

}  // namespace ttcheck::formats
