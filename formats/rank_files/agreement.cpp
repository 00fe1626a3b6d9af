// SPDX-License-Identifier: Apache-2.0
// Files come in one by one. A file's rank and world are held against its name at once; steps wait
// until all ranks are there, since only a vote tells which are wrong. Counters are whole numbers
// among the facts, by the last word of their names, and the first step of an optimizer that can
// be read. For each set of files and counter the ranks are grouped by value; every value but that
// of most ranks is a finding, and on a tie every value is, for nothing tells which is right.
// Files of many ranks often have the same finding, so findings are joined by code, tensor and
// message, and list their ranks. The run's mesh is the one with the most axes among those that
// hold every rank; the first other one of as many ranks without a common name gives the expert
// axes. Coordinates are listed only where counting along the axes gives others.

#include "formats/rank_files/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/ranks/file_steps.hpp"
#include "formats/ranks/vote.hpp"

namespace ttcheck::formats {
namespace {

/// Last words of facts that count steps.
constexpr std::array<std::string_view, 5> kCounters = {"last_epoch", "_step_count", "global_step",
                                                       "global_steps", "iteration"};

bool named_alike(const std::vector<Axis>& axes, const std::vector<Axis>& others) {
  return std::ranges::any_of(axes, [&](const Axis& axis) {
    return std::ranges::any_of(others, [&](const Axis& other) { return other.name == axis.name; });
  });
}

/// The whole mesh with the most axes.
const TorchMesh* whole_mesh(const std::vector<std::shared_ptr<const TorchMesh>>& meshes,
                            std::int64_t world) {
  const TorchMesh* best = nullptr;
  for (const auto& mesh : meshes) {
    if (mesh->ranks() != world || !mesh->is_whole()) continue;
    if (best == nullptr || mesh->axes.size() > best->axes.size()) best = mesh.get();
  }
  return best;
}

/// Coordinates of every rank, where counting does not give them.
void list_ranks(const std::vector<const TorchMesh*>& meshes, std::int64_t world, Mesh& mesh) {
  std::vector<Coordinates> listed;
  bool counted = true;
  for (std::int64_t rank = 0; rank < world; ++rank) {
    Coordinates& at = listed.emplace_back();
    for (const TorchMesh* one : meshes) {
      if (const auto found = one->coordinates(rank)) at.insert(found->begin(), found->end());
    }
    counted = counted && at == mesh.coordinates(rank);
  }
  if (!counted) mesh.ranks = std::move(listed);
}

}  // namespace

std::optional<Mesh> run_mesh(const DistributedReader& reader, std::int64_t world) {
  const auto meshes = reader.meshes();
  if (meshes.empty()) {
    if (reader.worlds().empty()) return std::nullopt;
    return Mesh{{{"dp", world}}, {}, {}};
  }
  Mesh mesh;
  const TorchMesh* whole = whole_mesh(meshes, world);
  if (whole == nullptr) {
    mesh.axes = meshes.front()->axes;
    return mesh;
  }
  mesh.axes = whole->axes;
  std::vector<const TorchMesh*> used = {whole};
  for (const auto& other : meshes) {
    const bool fresh = other->ranks() == world && other->is_whole() &&
                       !named_alike(other->axes, mesh.axes) && mesh.expert_axes.empty();
    if (!fresh) continue;
    mesh.expert_axes = other->axes;
    used.push_back(other.get());
  }
  list_ranks(used, world, mesh);
  return mesh;
}

void Agreement::take(const std::string& file, const std::string& set, std::int32_t rank,
                     const DistributedReader& reader, const State& state) {
  const Where place{
      state.records.empty() ? file : state.records.front().piece.where().file, {}, {}};
  const std::set<std::int64_t>& ranks = reader.ranks();
  if (!ranks.empty() && !ranks.contains(rank)) written_by(*ranks.begin(), rank, place);
  std::set<std::int64_t> worlds = reader.worlds();
  for (const auto& mesh : reader.meshes()) worlds.insert(mesh->ranks());
  if (!worlds.empty() && *worlds.rbegin() > world_) {
    say(found(Code::mixed_step,
              fmt::format("is named as one of {} ranks and was written by one of {}", world_,
                          *worlds.rbegin()),
              place),
        rank);
  }
  count_steps(set, rank, state.facts, state.records);
}

void Agreement::written_by(std::int64_t wrote, std::int32_t rank, Where file) {
  if (wrote == rank || wrote < 0 || wrote >= world_) return;
  say(found(Code::mixed_step,
            fmt::format("is named as rank {}'s and was written by rank {}: files of ranks were "
                        "exchanged or renamed",
                        rank, wrote),
            std::move(file)),
      rank);
}

void Agreement::count_steps(const std::string& set, std::int32_t rank,
                            const std::vector<Fact>& facts, const std::vector<Record>& records) {
  for (const Fact& fact : facts) {
    const std::string_view last = std::string_view(fact.name).substr(fact.name.rfind('.') + 1);
    const auto* number = std::get_if<std::int64_t>(&fact.value);
    if (number != nullptr && std::ranges::find(kCounters, last) != kCounters.end()) {
      note(set, fact.name, rank, static_cast<double>(*number));
    }
  }
  for (const Record& record : records) {
    const auto step = record.kind == Kind::step ? scalar_of(record) : std::nullopt;
    if (!step) continue;
    note(set, "step", rank, *step);
    return;
  }
}

void Agreement::note(const std::string& set, const std::string& counter, std::int32_t rank,
                     double value) {
  const auto [place, fresh] = steps_at_.try_emplace({set, counter}, steps_.size());
  if (fresh) steps_.push_back({set, counter, {}});
  steps_[place->second].of_rank.emplace(rank, value);
}

void Agreement::say(Finding finding, std::int32_t rank) {
  const Key key{static_cast<std::uint16_t>(finding.code), finding.tensor, finding.message};
  const auto [place, fresh] = places_.try_emplace(key, said_.size());
  if (fresh) said_.push_back(std::move(finding));
  std::vector<std::int32_t>& ranks = said_[place->second].ranks;
  if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
}

std::vector<Finding> Agreement::findings() {
  for (const Step& step : steps_) {
    std::map<double, std::vector<std::int32_t>> by_value;
    for (const auto& [rank, value] : step.of_rank) by_value[value].push_back(rank);
    if (by_value.size() < 2) continue;
    const auto usual = usual_of(by_value);
    for (const auto& [value, ranks] : by_value) {
      if (value == usual) continue;
      const std::string others =
          usual ? fmt::format("{} on {} others", *usual, by_value.at(*usual).size())
                : "another one on as many others";
      Finding finding =
          found(Code::mixed_step,
                fmt::format("{} of {} is {} on rank{} {}, and {}: files of different steps",
                            step.counter, step.set, value, ranks.size() == 1 ? "" : "s",
                            fmt::join(ranks, ", "), others),
                {});
      finding.ranks = ranks;
      said_.push_back(std::move(finding));
    }
  }
  return std::exchange(said_, {});
}

}  // namespace ttcheck::formats
