// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of torch.utils._debug_mode.DebugMode.debug_string(): an op a line, indented by the depth
// of calls, below the module that ran it, with hashes of what it took and gave where
// log_tensor_hashes was on.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/identity.hpp"
#include "core/model/source.hpp"
#include "formats/dumps/debug_mode/text.hpp"

namespace ttcheck::formats {

/// What an op took or gave.
struct LoggedValue {
  LoggedTensor tensor;
  std::string hash;            ///< as it was written; empty: none
  std::optional<double> norm;  ///< the L1 norm, where that is (part of) the hash
};

struct LoggedOp {
  std::string name;  ///< `aten::mm`
  /// Dotted, without the model's class; empty: none, or the model itself. A view of one of the
  /// log's `modules`.
  std::string_view module;
  Phase phase = Phase::forward;
  bool scattered = false;  ///< it works on a rank's part of DTensors
  std::uint64_t offset = 0;
  std::vector<std::optional<LoggedValue>> inputs, outputs;  ///< none: no tensor
};

struct DebugModeLog {
  std::vector<std::unique_ptr<const std::string>> modules;  ///< one for each line of a module
  std::vector<LoggedOp> ops;                                ///< those that took or gave tensors
  std::int64_t not_ours = 0;    ///< lines of no form that is known, and cut ones
  std::uint64_t first_odd = 0;  ///< where the first of these is
  bool hashed = false;          ///< an op has a hash
  bool one_of_several = false;  ///< ranks: it holds parts of DTensors
};

/// Reads the log. Memory grows with its bytes. Throws Error when it cannot be read.
DebugModeLog read_debug_mode(const Source& file);

/// True when these first bytes are such a log: lines of its forms alone, one of them an op on
/// tensors or a module.
bool is_debug_mode(std::string_view head);

}  // namespace ttcheck::formats
