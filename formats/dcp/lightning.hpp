// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Lightning writes beside a distributed checkpoint of its FSDP and model-parallel strategies:
// counters, schedulers and whatever else no rank shards, in a torch file of its own
// (lightning/fabric/strategies/fsdp.py, `_METADATA_FILENAME`).

#include <optional>
#include <string_view>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

class LightningMeta {
 public:
  static constexpr std::string_view kName = "meta.pt";

  /// Reads the file where the directory has one. One that cannot be read is a finding of `add_to`.
  explicit LightningMeta(const Root& root);

  bool found() const { return file_.has_value() || fault_.has_value(); }

  /// Adds its objects under the names that a checkpoint of one file gives them. This outlives the
  /// state.
  void add_to(State& state) const;

 private:
  std::optional<TorchFile> file_;
  std::optional<Finding> fault_;
};

}  // namespace ttcheck::formats
