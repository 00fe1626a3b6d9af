// SPDX-License-Identifier: Apache-2.0
#pragma once
// A torch file as a State: canonical names, records, facts.

#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "formats/torch/distributed.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// What the checkpoint around it says of a file that is a part of one.
struct TorchPart {
  enum class Role : std::uint8_t {
    whole,      ///< a plain file: everything in it counts
    optimizer,  ///< an optimizer's state, whose parameters are in another file
    extra,      ///< scheduler, RNG, counters: all of it is facts, tensors by their hash
  };
  Role role = Role::whole;
  std::vector<Candidate> parameters;         ///< of an optimizer's model
  std::int32_t rank = kNoRank;               ///< the one whose file it is
  DistributedReader* distributed = nullptr;  ///< makes records of distributed tensors' parts
};

/// Everything in the file's object: every tensor is a record, everything else a fact. One root
/// container that holds the parameters is dropped from the names; wrappers' prefixes too; an
/// optimizer's state is `<param>@<key>`. What cannot be described is a finding and counts as
/// unreadable. `file` must outlive the State.
State torch_state(const TorchFile& file, const TorchPart& part = {});

/// The model's parameters as an optimizer counts them: each shared one once, no known buffers.
std::vector<Candidate> torch_parameters(const TorchFile& file);

/// A name without the prefixes of wrappers (torch.compile, FSDP, activation checkpoints).
std::string without_wrappers(std::string name);

/// False for a buffer that no optimizer holds, by the last part of its name.
bool is_parameter(std::string_view name);

/// True for a name of a root container that is dropped from tensor names (`model`, `state_dict`
/// ...).
bool is_root_container(std::string_view name);

}  // namespace ttcheck::formats
