// SPDX-License-Identifier: Apache-2.0
#include "core/show/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/interrupted.hpp"
#include "core/compare/profile.hpp"
#include "core/show/axes.hpp"
#include "core/verdict/holders.hpp"

namespace ttcheck::show {
namespace {

constexpr std::size_t kMostElements = 1000;
constexpr double kFarOut = 10;  // times the median rms of slices

void add_parts(const Tensor& tensor, const std::vector<Piece>& pieces, std::string_view role,
               Shown& shown) {
  for (const Piece& piece : pieces) {
    StoredPart part;
    part.rank = piece.rank;
    part.role = role;
    part.dtype = piece.dtype;
    part.box = piece.cells.empty() ? whole(tensor.shape) : piece.cells.front().box;
    part.boxes = piece.cells.empty() ? 1 : std::ssize(piece.cells);
    part.where = piece.where();
    shown.parts.push_back(std::move(part));
  }
}

/// Fills in where the elements listed are stored, and by whom.
void place_elements(const compare::Pair& pair, Profile& profile) {
  const Tensor& held = pair.candidate == nullptr ? *pair.reference : *pair.candidate;
  for (ProfiledElement& element : profile.elements) {
    element.ranks = verdict::holders(held, element.index);
    element.where = verdict::place_of(held, element.index);
    if (pair.candidate != nullptr) {
      element.reference_where = verdict::place_of(*pair.reference, element.index);
    }
  }
}

/// Slices that are zero, or far larger than the others.
void hint_at_slices(const AxisProfile& axis, const Profile& profile,
                    std::vector<std::string>& hints) {
  if (axis.bins.size() < 4) return;
  std::vector<double> sizes;
  std::size_t zero = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < axis.bins.size(); ++i) {
    const double size = bin_error(axis.bins[i], profile);
    sizes.push_back(size);
    if (size == 0) ++zero;
    if (size > sizes[largest]) largest = i;
  }
  const std::string unit = axis.slices_per_bin == 1 || axis.name == "head"
                               ? axis.name
                               : fmt::format("{} in groups of {}", axis.name, axis.slices_per_bin);
  if (zero > 0 && zero < sizes.size()) {
    hints.push_back(fmt::format("by {}: {} of {} are all zero", unit, zero, sizes.size()));
  }
  std::vector<double> sorted = sizes;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  if (*middle > 0 && sizes[largest] > kFarOut * *middle) {
    hints.push_back(fmt::format("by {}: {} has {:.3g} times the median's rms", unit, largest,
                                sizes[largest] / *middle));
  }
}

}  // namespace

Shown parts_to_show(const Tensor& tensor) {
  Shown shown;
  if (tensor.placement) shown.dims = to_string(*tensor.placement);
  add_parts(tensor, tensor.pieces, "piece", shown);
  for (const auto& term : tensor.terms) add_parts(tensor, term, "addend", shown);
  add_parts(tensor, tensor.replicas, "replica", shown);
  for (const auto& copies : tensor.term_replicas) {
    add_parts(tensor, copies, "addend-replica", shown);
  }
  return shown;
}

Profile profile_to_show(const compare::Pair& pair, const Metrics& metrics, const Numbers& numbers,
                        int top) {
  const std::int64_t finite = metrics.count - metrics.taken_out;
  const double rms = finite > 0 ? std::sqrt(metrics.sum_a2 / static_cast<double>(finite)) : 0;
  const std::size_t most =
      top <= 0 ? kMostElements : std::min(kMostElements, static_cast<std::size_t>(top));
  Profile profile = compare::profile(pair, axes_to_show(pair, numbers), rms, most, interrupted);
  place_elements(pair, profile);
  return profile;
}

std::string record_words(std::size_t at, std::size_t records, const Identity& identity) {
  if (records < 2) return "";
  return fmt::format("record {} of {} of that name: {}, micro-batch {}, call {}", at + 1, records,
                     name(identity.phase), identity.microbatch, identity.call);
}

std::vector<std::string> hints_of(const Profile& profile) {
  std::vector<std::string> hints;
  const ValueStats& values = profile.sides.front();
  if (values.finite == 0) return {"no value is finite"};
  if (profile.all.count > 1 && values.least == values.most) {
    return {fmt::format("all finite values are {}", values.least)};
  }
  for (const AxisProfile& axis : profile.axes) hint_at_slices(axis, profile, hints);
  return hints;
}

}  // namespace ttcheck::show
