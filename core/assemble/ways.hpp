// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other ways in which ranks may hold a tensor that nothing declares: geometry alone. Which of them
// is meant, values tell (core/diff/undeclared, core/diff/meet_axis_by_values).

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::assemble {

/// Axes of `mesh` along which ranks that hold the whole of an undeclared tensor may have cut one of
/// shape `whole`: longer in one dimension, by the axis' size.
std::vector<std::string_view> axes_of_cut(const Tensor& tensor, const Shape& whole,
                                          const Mesh& mesh);

/// The tensor of shape `whole` of which each rank holds the part at its coordinate along `axis`;
/// ranks of one coordinate hold copies, or addends: it stays undeclared. REQUIRES one of
/// axes_of_cut. Nothing where a part is on no rank.
std::optional<Tensor> cut_along(const Tensor& tensor, const Shape& whole, const Mesh& mesh,
                                std::string_view axis);

/// The sums of what ranks hold of an undeclared tensor, each over some axes of the mesh, along the
/// others being copies; the fewest axes first.
std::vector<Tensor> as_addends(const Tensor& tensor, const Mesh& mesh);

/// How long the parts of a rank may be, by extents of a fused dimension and of a rank's part of it.
using PartLengths = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Extents>>;

/// A fused tensor that was placed by its shape, each rank's array being not one range of it but one
/// of each of its parts: gate and up; query, key and value of as many or fewer heads. A name tells
/// that it is fused, or that one of the same extents was, which is kept in `known`: what takes it
/// in.
std::vector<Tensor> in_parts(const Tensor& tensor, PartLengths& known);

}  // namespace ttcheck::assemble
