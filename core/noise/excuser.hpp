// SPDX-License-Identifier: Apache-2.0
#pragma once
// One of those who go along the records of a step (core/noise/noise), each by its rules of chance.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"

namespace ttcheck::noise {

class Excuser {
 public:
  Excuser() = default;
  Excuser(const Excuser&) = delete;
  Excuser& operator=(const Excuser&) = delete;
  virtual ~Excuser() = default;

  /// Gets each result in causal order, also those within their limits, unless one before it has
  /// just excused it. True where it gave it an allowance. Where a step is walked along in parts, or
  /// again, it gets those that were excused before. Asked ahead of a result's turn by an excuser
  /// that needs it.
  virtual bool look(TensorResult& result) = 0;

  /// Gets all results behind the last of them: excuses what only all of them tell, and leaves what
  /// is for the next step in Carried. True where it gave one an allowance: then what is still open
  /// is shown to all again.
  virtual bool finish(std::span<TensorResult> /*results*/, Carried& /*carried*/) { return false; }
};

}  // namespace ttcheck::noise
