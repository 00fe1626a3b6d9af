// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that two models cut or fuse in different ways: the candidate's are seen as the
// reference's, through box maps. Nothing is copied.

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/align/map_op.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// One way to see a tensor: made of these parts by `op`. `scheme` names where the way comes from.
struct Reading {
  std::string scheme;
  std::vector<std::string> parts;
  MapOp op;
  bool features = false;  ///< rows of the op are places along the last dim, whatever is before it
};

/// All ways to see a tensor, by its name and shape, the most literal first.
using Readings = std::function<std::vector<Reading>(const Tensor& tensor)>;

/// Tensors of one side that are still alone, and how they may be seen.
struct Alone {
  std::span<const Tensor> tensors;
  std::span<const std::size_t> indices;
  const Readings& readings;
};

struct Recast {
  std::size_t reference = 0;
  Tensor seen;  ///< the candidate's, in the reference's cut; named after what it is made of
  std::string reference_scheme, candidate_scheme;
};

struct Recasts {
  std::vector<Recast> pairs;
  std::vector<std::size_t> used;  ///< of the candidate, ascending: all of each is in `pairs` or...
  std::vector<Tensor> rest;       ///< ...here: parts that no tensor of the reference has
  std::set<std::string> unknown;  ///< numbers that an op asked for in vain
  std::int64_t sliced = 0;        ///< pairs in which one side has more than the slice compared
};

/// Pairs each reference tensor with the candidate's parts that it is made of, where all of them are
/// there, once, and fit. Of several readings of a candidate's tensor, the first counts that gives
/// the reference's shape. Of
/// traces, records of one place: the parts' names say which (of_records); there shapes must fit.
Recasts recast(const Alone& reference, const Alone& candidate, const Numbers& numbers);

}  // namespace ttcheck::align
