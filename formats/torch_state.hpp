#pragma once
// A torch file as a State: canonical names, records, facts.

#include <string_view>

#include "core/model/run.hpp"
#include "formats/torch_file.hpp"

namespace ttcheck::formats {

/// Everything in the file's object: every tensor is a record, everything else a fact. One root
/// container that holds the parameters is dropped from the names; wrappers' prefixes too; an
/// optimizer's state is `<param>@<key>`. What cannot be described is a finding and counts as
/// unreadable. `file` must outlive the State.
State torch_state(const TorchFile& file);

/// A name without the prefixes of wrappers (torch.compile, FSDP, activation checkpoints).
std::string without_wrappers(std::string name);

/// False for a buffer that no optimizer holds, by the last part of its name.
bool is_parameter(std::string_view name);

/// True for a name of a root container that is dropped from tensor names (`model`, `state_dict`
/// ...).
bool is_root_container(std::string_view name);

}  // namespace ttcheck::formats
