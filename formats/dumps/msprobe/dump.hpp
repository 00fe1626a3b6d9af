// SPDX-License-Identifier: Apache-2.0
#pragma once
// dump.json (and debug.json, of the same form) of msprobe: what each op took and gave, with
// statistics, a checksum or the name of a tensor file (msprobe/core/dump/data_dump).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/record.hpp"
#include "formats/dumps/msprobe/name.hpp"

namespace ttcheck::formats {

struct MsprobeTensor {
  std::size_t op = 0;  ///< in MsprobeDump::ops
  std::string slot;    ///< `input.0`, `kwargs.mask`, `output.0.1`, `parameters.weight`
  DType dtype = DType::f32;
  Shape shape;
  std::optional<StoredStats> stats;
  std::string hash;  ///< `crc32:<8 hex>`, `xor64:<16 hex>`, `md5:...`, `value:...`; may be empty
  std::string file;  ///< in dump_tensor_data; empty: bytes were not kept
  std::uint64_t offset = 0;
};

struct MsprobeCall {
  std::string key;
  MsprobeOp op;
  std::vector<std::pair<std::string, std::string>> arguments;  ///< no tensors: slot, JSON text
};

/// What was read of one file, in its order.
struct MsprobeDump {
  std::vector<MsprobeCall> ops;
  std::vector<MsprobeTensor> tensors;
  std::vector<Fact> facts;  ///< task, level, framework, summary_mode, dump_data_dir: notes
  std::vector<Finding> findings;
  std::int64_t least_ranks = 0;  ///< that groups of collectives name; 0: none does
  std::int64_t unreadable = 0;   ///< tensors that are there and could not be described
};

/// Parses the text of `file`. Of a text that is cut or damaged what stands before the damage is
/// read, and a finding says so. Throws Error when there is nothing to read.
MsprobeDump parse_msprobe_dump(const std::string& text, const std::string& file);

/// Reads construct.json: by op the module's call that ran it; no op that none ran.
std::map<std::string, std::string> parse_msprobe_construct(const std::string& text,
                                                           const std::string& file);

}  // namespace ttcheck::formats
