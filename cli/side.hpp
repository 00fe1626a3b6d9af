#pragma once
// One side of a comparison: the run, opened with the layouts that are meant for it.

#include <array>
#include <string>

#include "cli/options.hpp"
#include "core/align/align.hpp"
#include "core/model/layout.hpp"
#include "core/model/run.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Opens a run. Throws Error when nothing of it can be read, or a layout file cannot.
Run open_side(const std::string& path, Side side, const Options& options);

/// Both sides of a comparison: the two words of the command.
std::array<Run, 2> open_both(const Options& options);

/// How names are to meet, with the map files read. Throws Error.
align::AlignOptions align_options(const Options& options);

/// Reads the limits file that `options` names, if it names one. Throws Error.
void read_limits(Options& options);

/// Whole `model.*` facts as the numbers that dims may name.
Numbers numbers_of(const std::vector<Fact>& facts);

/// Adds `some` behind `all`.
void append(std::vector<Finding>& all, std::vector<Finding> some);

/// Head of a report: format, mesh, steps. Tensors and bytes are added as steps are read.
RunSummary summary_of(const Run& run);

/// Bytes of the logical tensor; 0 for one whose size overflows.
std::uint64_t logical_bytes(const Tensor& tensor);

}  // namespace ttcheck::cli
