// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checkpoints as Meta saves Llama: `params.json` beside `consolidated.NN.pth`, one file for each
// rank of fairscale's model parallelism (github.com/meta-llama/llama: llama/model.py). No file says
// how a tensor is cut: its shape does, held against what the parameters say of the whole.

#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/layout.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

struct MetaFiles {
  Layout layout;  ///< with a rule for each tensor whose cut is proved; one axis, `tp`
  std::vector<Fact> facts;
  std::vector<Finding> findings;  ///< TT307 for a shape that no cut explains
};

/// True for a directory that holds the parameters and a rank's file, and no other description of a
/// model. Does not throw.
bool is_meta(const Probe& probe);

/// The number of ranks is that by which most matrices of the first readable file are cut, where
/// none tells that of the files. REQUIRES is_meta. Throws Error when the parameters cannot be read.
MetaFiles read_meta(const Probe& probe, const OpenOptions& options);

}  // namespace ttcheck::formats
