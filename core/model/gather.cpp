// SPDX-License-Identifier: Apache-2.0
#include "core/model/gather.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"
#include "core/model/decode.hpp"
#include "core/model/region.hpp"

namespace ttcheck {
namespace {

constexpr std::int64_t kReduceChunk = 1 << 16;  // elements; a multiple of 8 for packed dtypes

bool sequential(std::span<const Piece> pieces) {
  return std::ranges::any_of(pieces, [](const Piece& piece) {
    return piece.source != nullptr && piece.source->sequential();
  });
}

/// The elements from a box's first to its last; of an empty box any that it lies among.
LinearRange bounds(const Shape& shape, const Box& box) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    first = first * shape[d] + box.lo[d];
    last = last * shape[d] + box.lo[d] + box.size[d] - 1;
  }
  return {first, last + 1};
}

/// True when a cell lies in its storage exactly as it lies in the logical tensor.
bool in_place(const Cell& cell, const Shape& shape) {
  return cell.box == whole(shape) && cell.strides == row_major_strides(shape);
}

void gather_cell(const Piece& piece, const Cell& cell, const Shape& shape, std::int64_t begin,
                 std::span<const Box> boxes, std::span<std::byte> out) {
  const Extents out_strides = row_major_strides(shape);
  for (const Box& box : boxes) {
    const auto common = intersect(box, cell.box);
    if (!common) continue;
    Region region{piece, cell.start, linear_index(shape, common->lo) - begin, {}};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      region.start += (common->lo[d] - cell.box.lo[d]) * cell.strides[d];
      if (common->size[d] > 1) {
        region.dims.push_back({common->size[d], cell.strides[d], out_strides[d]});
      }
    }
    copy_region(region, out);
  }
}

void check_dtype(const Piece& piece, DType dtype) {
  if (piece.dtype == dtype) return;
  throw Error("piece holds " + std::string(name(piece.dtype)) + ", its tensor is " +
                  std::string(name(dtype)),
              piece.where());
}

void reduce(const Tensor& tensor, std::int64_t begin, std::int64_t count,
            std::span<std::byte> out) {
  const auto parts = static_cast<std::size_t>(is_complex(tensor.dtype) ? 2 : 1);
  const auto numbers = static_cast<std::size_t>(count) * parts;
  std::vector<double> sum(numbers);
  std::vector<double> term(numbers);
  std::vector<std::byte> stored(out.size());
  for (std::size_t t = 0; t < tensor.terms.size(); ++t) {
    std::ranges::fill(stored, std::byte{0});
    gather(tensor.terms[t], tensor.dtype, tensor.shape, begin, count, stored);
    to_doubles(tensor.dtype, stored.data(), count, term.data());
    if (t == 0) {
      sum = term;
      continue;
    }
    for (std::size_t i = 0; i < numbers; ++i) {
      if (tensor.reduce != Reduce::max) {
        sum[i] += term[i];
      } else if (!(term[i] <= sum[i])) {
        sum[i] = term[i];
      }
    }
  }
  if (tensor.reduce == Reduce::avg) {
    for (double& value : sum) value /= divisor_of(tensor);
  }
  from_doubles(tensor.dtype, sum.data(), count, out.data());
}

void require_range(DType dtype, const Shape& shape, std::int64_t begin, std::int64_t count,
                   std::span<const std::byte> out) {
  const std::int64_t all = element_count(shape);
  require(begin >= 0 && count >= 0 && count <= all - begin, "elements of the tensor");
  require(out.size() == byte_size(dtype, count), "room for exactly these elements");
  require(bits(dtype) >= 8 || (begin % 8 == 0 && (count % 8 == 0 || begin + count == all)),
          "packed elements by eights");
}

}  // namespace

ReadPlan plan_of(const Tensor& tensor) {
  ReadPlan plan;
  if (bits(tensor.dtype) < 8) plan.granule = 8;
  plan.sequential =
      sequential(tensor.pieces) || sequential(tensor.replicas) ||
      std::ranges::any_of(tensor.terms, [](const auto& term) { return sequential(term); }) ||
      std::ranges::any_of(tensor.term_replicas, [](const auto& term) { return sequential(term); });
  return plan;
}

std::vector<LinearRange> ranges_in(std::span<const Box> boxes, const Shape& shape,
                                   std::int64_t begin, std::int64_t end) {
  std::vector<LinearRange> found;
  if (boxes.empty()) return found;
  const std::vector<Box> wanted = boxes_of_range(shape, begin, end);
  for (const Box& box : boxes) {
    const LinearRange reach = bounds(shape, box);
    if (reach.begin >= end || reach.end <= begin) continue;
    for (const Box& part : wanted) {
      const auto common = intersect(part, box);
      if (!common) continue;
      // Trailing dimensions that the box spans whole make one run with the first that it cuts.
      std::size_t cut = shape.size();
      std::int64_t run = 1;
      for (bool spanned = true; cut > 0 && spanned;) {
        --cut;
        run *= common->size[cut];
        spanned = common->size[cut] == shape[cut];
      }
      Extents at = common->lo;
      for (bool more = true; more;) {
        const std::int64_t first = linear_index(shape, at);
        found.push_back({first, first + run});
        more = false;
        for (std::size_t d = cut; d-- > 0;) {
          if (++at[d] < common->lo[d] + common->size[d]) {
            more = true;
            break;
          }
          at[d] = common->lo[d];
        }
      }
    }
  }
  std::ranges::sort(found, {}, &LinearRange::begin);
  std::vector<LinearRange> joined;
  for (const LinearRange& range : found) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

void gather(std::span<const Piece> pieces, DType dtype, const Shape& shape, std::int64_t begin,
            std::int64_t count, std::span<std::byte> out) {
  if constexpr (kRequires) require_range(dtype, shape, begin, count, out);
  std::vector<Box> boxes;
  for (const Piece& piece : pieces) {
    check_dtype(piece, dtype);
    if (piece.cells.empty() || (piece.cells.size() == 1 && in_place(piece.cells[0], shape))) {
      const std::int64_t start = piece.cells.empty() ? 0 : piece.cells[0].start;
      copy_region({piece, start + begin, 0, {{count, 1, 1}}}, out);
      continue;
    }
    for (const Cell& cell : piece.cells) {
      const LinearRange reach = bounds(shape, cell.box);
      if (reach.begin >= begin + count || reach.end <= begin) continue;
      if (boxes.empty()) boxes = boxes_of_range(shape, begin, begin + count);
      gather_cell(piece, cell, shape, begin, boxes, out);
    }
  }
}

void gather(const Tensor& tensor, std::int64_t begin, std::int64_t count,
            std::span<std::byte> out) {
  if constexpr (kRequires) require_range(tensor.dtype, tensor.shape, begin, count, out);
  if (tensor.reduce == Reduce::none || tensor.terms.empty()) {
    if (!tensor.holes.empty()) std::ranges::fill(out, std::byte{0});
    return gather(tensor.pieces, tensor.dtype, tensor.shape, begin, count, out);
  }
  for (std::int64_t at = 0; at < count; at += kReduceChunk) {
    const std::int64_t n = std::min(kReduceChunk, count - at);
    const auto from = static_cast<std::size_t>(at * bits(tensor.dtype) / 8);
    reduce(tensor, begin + at, n, out.subspan(from, byte_size(tensor.dtype, n)));
  }
}

}  // namespace ttcheck
