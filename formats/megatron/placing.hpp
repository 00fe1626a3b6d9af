// SPDX-License-Identifier: Apache-2.0
#pragma once
// Megatron's rules at work on the records of one step.

#include "core/model/layout_use.hpp"
#include "core/model/run.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

class MegatronPlacing {
 public:
  /// `args` must outlive it. `version`: of the checkpoint.
  MegatronPlacing(const MegatronArgs& args, double version);
  MegatronPlacing(const MegatronPlacing&) = delete;
  MegatronPlacing& operator=(const MegatronPlacing&) = delete;

  /// Gives the record the placement of the first rule that matches the parameter it belongs to.
  /// False where none does, or where nothing could cut it: then it is whole.
  bool place(Record& record);

  /// Drops what several ranks hold and no rule knows, and says so. Ask when all ranks are placed.
  void leave_out_unplaced(State& state) const;

 private:
  const MegatronArgs& args_;
  Layout layout_;
  LayoutUse use_;
};

}  // namespace ttcheck::formats
