// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which files of a Hugging Face directory hold the weights, and what an index says about them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

/// A `*.index.json` with a `weight_map`.
struct WeightIndex {
  std::string file;
  /// Tensor name -> shard; only shards with plain names. Ordered by name.
  std::map<std::string, std::string, std::less<>> shard_of;
  std::vector<std::string> shards;  ///< in order of their names
  /// How many of these have the same text around their numbers, by that, with a NUL between.
  std::map<std::string, std::size_t, std::less<>> shards_like;
  std::vector<Finding> findings;  ///< names that lead elsewhere, duplicates
  std::int64_t refused = 0;       ///< tensors whose shard has no plain name
};

/// Throws Error when it is no index.
WeightIndex read_weight_index(const Root& root, const std::string& file);

struct WeightFiles {
  std::optional<WeightIndex> index;
  std::vector<std::string> files;    ///< to open, sorted
  std::vector<std::string> ignored;  ///< other weight files that say the same, or nothing known
  std::vector<Finding> findings;     ///< shards that are missing, an index that cannot be read
  std::int64_t missing_tensors = 0;  ///< listed for shards that are not there
};

/// `names`: top level of the directory. safetensors are preferred over .bin, an index over none,
/// and a single file over an index, as loaders do.
WeightFiles find_weights(const Root& root, const std::vector<std::string>& names);

/// Finds what of the ignored files is a model of its own: the same weights in the other container,
/// a variant, whole beside its shards. By the name of its file, or of what its shards are cut from.
std::vector<std::pair<std::string, WeightFiles>> other_weights(
    const Root& root, const std::vector<std::string>& names, const WeightFiles& weights);

/// True for a file named as the index names its shards that is none of them.
bool is_unlisted_shard(const WeightFiles& weights, std::string_view name);

/// Lists weight files, or folders, by their model's number, from 1, where accelerate saved several
/// (accelerate/checkpointing.py `save_accelerator_state`: `model_1.safetensors`).
std::map<std::int64_t, std::string> further_models(const std::vector<std::string>& names);

/// What stands before the names of a further model's tensors; nothing for the first, 0.
std::string model_prefix(std::int64_t number);

/// True for the name of a file that holds weights of a model.
bool is_weight_file(std::string_view name);

/// True for the name of a folder into which accelerate lets FSDP's ranks write a model
/// (accelerate/utils/fsdp_utils.py `save_fsdp_model`: `pytorch_model_fsdp_0`).
bool is_weight_folder(std::string_view name);

/// Reads N of `<start>N`; none of other names.
std::optional<std::int64_t> numbered_folder(std::string_view name, std::string_view start);

}  // namespace ttcheck::formats
