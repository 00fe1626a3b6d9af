// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which op each record of a rank's dump is of, and which records went into it: msprobe names
// functions by their Python names and lists their arguments by place or name, and a module's
// weights beside them.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/record.hpp"
#include "formats/dumps/msprobe/name.hpp"
#include "formats/dumps/torch_signatures.hpp"

namespace ttcheck::formats {

/// What the dump has of one tensor.
struct MsprobeItem {
  std::string_view key;  ///< of its op
  const MsprobeOp* op = nullptr;
  std::string_view slot;         ///< `input.0`
  std::string_view name;         ///< of its record
  const Shape* shape = nullptr;  ///< null: not known
  bool floats = false;
};

class MsprobeCalls {
 public:
  using Arguments = std::vector<std::pair<std::string, std::string>>;

  /// Adds an item, whose views must outlive this.
  void add(const MsprobeItem& item);
  /// Adds the op's arguments that are no tensors: slot, JSON text.
  void add(std::string_view key, const Arguments& arguments);

  /// Gives the record of an item `op`, `attrs` by the names of the function's parameters, and
  /// `call`. Of an op that is not known `op` is its own name, `attrs` are by slot.
  void tell(const MsprobeItem& item, TraceRecord& record) const;

 private:
  struct Call {
    std::vector<MsprobeItem> given, gotten, parameters;
    const Arguments* scalars = nullptr;
  };

  const Call* find(std::string_view key) const;
  std::optional<OpCall> call_of(const MsprobeItem& item, const TorchSignature& signature) const;

  std::map<std::string_view, Call> calls_;
};

}  // namespace ttcheck::formats
