// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/gather.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

bool same_but_rows(const Shape& a, const Shape& b) {
  return a.size() == b.size() && !a.empty() && a.front() != b.front() &&
         std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

bool is_plain(const Tensor& tensor) {
  return tensor.stored && tensor.reduce == Reduce::none && tensor.holes.empty();
}

/// What of the pieces lies in the first rows, `shape` being the tensor's before.
void keep_rows(std::vector<Piece>& pieces, const Shape& shape, std::int64_t rows) {
  Box kept = whole(shape);
  kept.size.front() = rows;
  for (Piece& piece : pieces) {
    if (piece.cells.empty()) piece.cells.push_back({whole(shape), 0, row_major_strides(shape)});
    std::vector<Cell> cells;
    for (Cell& cell : piece.cells) {
      auto box = intersect(cell.box, kept);  // from the same first row on: the start stays
      if (!box) continue;
      cell.box = std::move(*box);
      cells.push_back(std::move(cell));
    }
    piece.cells = std::move(cells);
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.cells.empty(); });
}

/// Whether all that lies behind the first rows is zero. False where that cannot be read.
bool zeros_behind(const Tensor& tensor, std::int64_t rows) {
  constexpr std::int64_t kBlock = std::int64_t{1} << 16;
  const std::int64_t end = element_count(tensor.shape);
  std::vector<std::byte> bytes;
  try {
    for (std::int64_t at = end / tensor.shape.front() * rows; at < end; at += kBlock) {
      const std::int64_t count = std::min(kBlock, end - at);
      bytes.assign(static_cast<std::size_t>(byte_size(tensor.dtype, count)), std::byte{});
      gather(tensor, at, count, bytes);
      if (std::ranges::any_of(bytes, [](std::byte one) { return one != std::byte{}; }))
        return false;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// How it is known that rows of the larger one are padding.
enum class Padding { none, stated, zeros };

Padding padding_of(const Tensor& larger, std::int64_t rows, const std::set<std::int64_t>& words) {
  // Whole multiples are copies one behind the other: another fault.
  if (rows <= 0 || larger.shape.front() % rows == 0 || !is_plain(larger)) return Padding::none;
  if (words.contains(larger.shape.front())) return Padding::none;
  if (words.contains(rows)) return Padding::stated;
  const bool table = larger.shape.size() == 2 && bits(larger.dtype) >= 8;
  return table && zeros_behind(larger, rows) ? Padding::zeros : Padding::none;
}

Finding untrimmed_finding(Finding finding, std::string_view side, std::int64_t has,
                          std::int64_t words, Padding padding) {
  finding.code = Code::padding;
  finding.message =
      padding == Padding::stated
          ? fmt::format(
                "the {} has {} rows and the configuration {} words: the last {} are padding "
                "that was not cut off; the others are compared",
                side, has, words, has - words)
          : fmt::format(
                "the {} has {} rows, of which the last {} are zeros, as padding is that was "
                "not cut off; the other {} are compared",
                side, has, has - words, words);
  return finding;
}

}  // namespace

void trim_vocabulary(std::span<Tensor> reference, std::span<Tensor> candidate,
                     std::span<const align::PairIndex> pairs, std::span<const char> evidence,
                     const std::set<std::int64_t>& words, std::optional<std::int64_t> step,
                     Verdict& verdict) {
  for (const align::PairIndex& pair : pairs) {
    const auto place = static_cast<std::size_t>(&pair - pairs.data());
    const bool said = evidence.empty() || evidence[place] == 0;
    Tensor& left = reference[pair.reference];
    Tensor& right = candidate[pair.candidate];
    if (!same_but_rows(left.shape, right.shape) || pair.rescaling != nullptr) continue;
    Tensor& larger = left.shape.front() > right.shape.front() ? left : right;
    const Tensor& smaller = &larger == &left ? right : left;
    const std::int64_t rows = smaller.shape.front();
    const Padding padding = padding_of(larger, rows, words);
    if (padding == Padding::none) continue;
    if (said) {
      const Finding shapes = verdict::shape_finding(left, right, step);
      verdict.findings.push_back(shapes);
      verdict.findings.push_back(untrimmed_finding(shapes,
                                                   &larger == &left ? "reference" : "candidate",
                                                   larger.shape.front(), rows, padding));
    }
    keep_rows(larger.pieces, larger.shape, rows);
    keep_rows(larger.replicas, larger.shape, rows);
    larger.shape.front() = rows;
  }
}

}  // namespace ttcheck::diff
