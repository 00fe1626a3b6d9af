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

  /// Gets each result once in causal order, unless another excused it. True where it gave it an
  /// allowance. Nobody is asked of a record ahead of its turn but by an excuser that needs it.
  virtual bool look(TensorResult& result) = 0;

  /// Behind the last of them: what only all of them tell, and what is left for the next step. True
  /// where it gave one an allowance.
  virtual bool finish(std::span<TensorResult> /*results*/, Carried& /*carried*/) { return false; }
};

}  // namespace ttcheck::noise
