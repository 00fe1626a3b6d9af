// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step numbers in the names of files and directories.

#include <cstdint>
#include <optional>
#include <string_view>

namespace ttcheck::formats {

/// The step that a name of a series states: `checkpoint-N` `checkpoint_N` (accelerate counts its
/// saves so, from 0) `step-N` `step_N` `stepN` `iter_N` `ckpt-N` `global_stepN` `global_step_N`,
/// and Lightning's `*step=N*.ckpt`; for directories also
/// `global_stepN_universal` and a plain number; for files the same names before an extension.
std::optional<std::int64_t> step_of_name(std::string_view name, bool directory);

/// The step that the last part of a path states, if it starts so: what a framework names itself.
std::optional<std::int64_t> step_of_path(std::string_view path, std::string_view prefix);

/// The digits that a text ends with; nothing when there are none or they don't fit.
std::optional<std::int64_t> trailing_number(std::string_view text);

}  // namespace ttcheck::formats
