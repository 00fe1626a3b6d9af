// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a pass over tensors is stopped before its end.

#include <functional>

#include "core/base/error.hpp"

namespace ttcheck::compare {

/// Asked before each range, from all threads; once it is true, what is left is not read. May be
/// empty.
using Stop = std::function<bool()>;

/// Thrown by a pass that was stopped.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped before its end") {}
};

}  // namespace ttcheck::compare
