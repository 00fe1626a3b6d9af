// SPDX-License-Identifier: Apache-2.0
#pragma once
// One record of the native trace (man/ttcheck-formats.5): the JSON object beside a stored array.

#include <string_view>

#include "core/model/record.hpp"
#include "formats/ranks/dims_cache.hpp"

namespace ttcheck::formats {

struct ParsedRecord {
  Record record;
  bool call_given = false;  ///< else the caller numbers repeats
};

/// What `json` says of the array that `stored` describes (dtype, shape, piece and coordinates of
/// the container). Throws Error that names the field, in the place `where`, when a required field
/// is missing, a field has another type than the format gives it, or fields contradict the
/// container.
ParsedRecord parse_trace_record(std::string_view json, Record stored, const Where& where,
                                DimsCache& dims);

/// True when the line names `axis`, in a shard or a note.
bool names_axis(const Placement& placement, std::string_view axis);

}  // namespace ttcheck::formats
