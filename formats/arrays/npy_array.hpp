// SPDX-License-Identifier: Apache-2.0
#pragma once
// One array in the .npy format, alone in a file or a member of an archive.

#include <optional>
#include <string>
#include <string_view>

#include "core/model/run.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Adds the array to `state`: a record of that name; or, for text, dates and structured items, a
/// fact `opaque.<name>` with a hash of its bytes; or, for pickled objects, which are never run, a
/// finding. Bytes behind the array are a finding. Throws Error when the header is malformed or
/// bytes of the array are missing. `source` must outlive the state's records.
void read_npy(const Source& source, const std::string& name, State& state);

/// Finds the dtype of a type code, whatever its byte order: `<f4`, `bfloat16`; `V2` is bf16, as
/// ml_dtypes leaves it. None for what is no plain number.
std::optional<DType> npy_dtype(std::string_view code);

}  // namespace ttcheck::formats
