// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tag directory (`global_stepN`), opened: its files, what they say of the parameters, and the
// ranks that wrote them.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/run.hpp"
#include "formats/deepspeed/file_names.hpp"
#include "formats/deepspeed/tp_blocks.hpp"
#include "formats/deepspeed/values.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

struct DeepspeedPart {
  DeepspeedFile file;
  std::unique_ptr<TorchFile> torch;  ///< null: it cannot be read
  std::unique_ptr<WalkBudget> budget;
  bool exchanged = false;  ///< its archive was written under another rank's name
};

/// How many ranks there are along each axis. Ranks are numbered pipeline stage by stage, in each
/// the data-parallel ranks, in each of these the tensor-parallel ones (deepspeed/runtime/pipe/
/// topology.py `PipeModelDataParallelTopology`; Megatron's order without a pipeline).
struct DeepspeedRanks {
  std::int64_t pp = 1, dp = 1, tp = 1, ep = 1;

  /// The rank that is the data-parallel rank `data` and has the number MM, `mp`, in file names.
  std::int32_t rank(std::int64_t data, std::int64_t mp) const;
  Mesh mesh() const;
};

struct DeepspeedTag {
  std::string given;
  std::vector<DeepspeedPart> parts;
  std::map<std::int64_t, DeepspeedParameters> parameters;  ///< by MM
  DeepspeedRanks ranks;
  bool several_ep = false;        ///< groups of experts are spread over several numbers of ranks
  bool pipeline = false;          ///< the model lies in layer files
  bool merged = false;            ///< no rank has a share of the optimizer's state (universal)
  bool autoep = false;            ///< ZeRO 3 cuts experts over the ranks that hold copies of them
  std::vector<Finding> findings;  ///< of opening
  std::vector<NamedState> named;
  std::int64_t unreadable = 0;
  std::uint64_t unclaimed = 0;          ///< bytes of other files
  std::optional<DeepspeedRules> rules;  ///< that the model states
  std::vector<std::int32_t> missing_ranks;
  std::map<std::int32_t, Error> unreadable_ranks;

  /// The step that its name, `global_stepN`, states.
  std::optional<std::int64_t> step() const { return step_of_path(given, "global_step"); }

  /// The place of the tensor-parallel rank that wrote the file.
  DeepspeedPlace place_of(const DeepspeedPart& part) const {
    return {rules, part.file.mp % ranks.tp, ranks.tp};
  }

  /// The readable parts of one kind.
  std::vector<const DeepspeedPart*> of(DeepspeedKind kind) const;
  std::string path_of(const DeepspeedPart& part) const { return given + "/" + part.file.path; }
};

/// TT507: the archive keeps the name that it was written under, and that is another file's.
Finding exchanged(std::string_view file, std::string_view written, Where where);

}  // namespace ttcheck::formats
