// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the door of `formats` returns: a value, or the Error that ended the reading of one thing.

#include <tl/expected.hpp>

#include "core/base/error.hpp"

namespace ttcheck {

template <class T>
using Result = tl::expected<T, Error>;

using Failed = tl::unexpected<Error>;

}  // namespace ttcheck
