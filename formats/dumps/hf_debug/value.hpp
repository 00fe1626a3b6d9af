// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor of transformers' call tree: its printed numbers or the file they lie in, its statistics.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/record.hpp"
#include "formats/dumps/hf_debug/tree.hpp"

namespace ttcheck::formats {

/// A record of the forward pass, whose values were not kept: dtype, shape and what the tree has of
/// mean, deviation, smallest and largest value. Throws Error when dtype or shape cannot be read.
Record described_record(const DebugValue& value);

/// Gives the record the printed numbers; the source holds them. Throws Error, and leaves the record
/// as it was, when they are not of its dtype and shape.
std::unique_ptr<const Source> take_printed(const Json& lines, Record& record);

/// Gives the record the bytes of a file that `save_file` wrote. Throws Error, and leaves the record
/// as it was, when the file holds another value. Findings are those of the file's header.
void take_saved(const Source& file, Record& record, std::vector<Finding>& findings);

/// The file's own name, of the path in a tree; empty where the value is none.
std::string_view saved_file(const DebugValue& value);

}  // namespace ttcheck::formats
