// SPDX-License-Identifier: Apache-2.0
#pragma once
// What could not be read, or was not in time: said one by one, so that nothing is silently equal.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// True where one of a side's findings tells of a file or a rank that was not read.
bool tells_unread_files(std::span<const Finding> findings);

/// A pair whose bytes could not be read.
void report_unread(const Tensor& reference, const Error& error, std::optional<std::int64_t> step,
                   Verdict& verdict);

/// What of a step could not be read: all of one side, or bytes that a second pass wanted.
void report_unread_step(const Error& error, std::optional<std::int64_t> step, Verdict& verdict);

/// Says that the work was cut short and `left` was not done. REQUIRES that a signal came.
Finding interruption(const std::string& left);

}  // namespace ttcheck::verdict
