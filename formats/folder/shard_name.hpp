// SPDX-License-Identifier: Apache-2.0
#pragma once
// File names of the form `model-00001-of-00005.safetensors`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

struct ShardName {
  std::string before, after;  ///< what stands around `-00001-of-00005`
  std::int64_t number = 0, total = 0;
  std::size_t digits = 0;  ///< of each number

  std::string with_number(std::int64_t other) const;
};

std::optional<ShardName> parse_shard_name(std::string_view name);

/// Names of the shards that should stand beside these and do not, at most a thousand.
std::vector<std::string> missing_shards(const std::vector<std::string>& names);

/// True for a name that promises arrays: such a file that no format knows is damaged, not
/// another's.
bool promises_arrays(std::string_view name);

/// `file` without its last extension; the whole of it where there is none.
std::string stem_of(std::string_view file);

}  // namespace ttcheck::formats
