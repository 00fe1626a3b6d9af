// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ranks' files say of the rank, the world and the step that they belong to, held against their
// names and against each other.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/run.hpp"
#include "formats/torch/distributed.hpp"

namespace ttcheck::formats {

/// The mesh of a run of `world` ranks: the axes of the mesh that counts all of them, other meshes
/// of as many ranks as expert axes; `dp` where shards say no mesh. None when the file says nothing.
std::optional<Mesh> run_mesh(const DistributedReader& reader, std::int64_t world);

class Agreement {
 public:
  explicit Agreement(std::int64_t world) : world_(world) {}

  /// Takes a file of a rank, `set` as below, with what it holds. TT507 where the file says it is
  /// another rank's, or one of another number of ranks.
  void take(const std::string& file, const std::string& set, std::int32_t rank,
            const DistributedReader& reader, const State& state);

  /// Says TT507 of a file that `wrote`, another rank of this world, has written under its own name.
  void written_by(std::int64_t wrote, std::int32_t rank, Where file);

  /// Notes the counters of steps in a rank's file; files of one `set` are held against each other.
  void count_steps(const std::string& set, std::int32_t rank, const std::vector<Fact>& facts,
                   const std::vector<Record>& records);

  /// Keeps a finding of one rank's file; what several ranks say alike is said once.
  void say(Finding finding, std::int32_t rank);

  /// Gives all of them, and TT507 where ranks are of different steps.
  std::vector<Finding> findings();

 private:
  using Key = std::tuple<std::uint16_t, std::string, std::string>;  ///< code, tensor, message

  struct Step {
    std::string set;
    std::string counter;
    std::map<std::int32_t, double> of_rank;
  };

  void note(const std::string& set, const std::string& counter, std::int32_t rank, double value);

  std::int64_t world_;
  std::vector<Finding> said_;
  std::map<Key, std::size_t> places_;
  std::vector<Step> steps_;
  std::map<std::pair<std::string, std::string>, std::size_t> steps_at_;  ///< by set and counter
};

}  // namespace ttcheck::formats
