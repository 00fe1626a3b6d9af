#include "core/diff/meet_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

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

Finding untrimmed_finding(Finding finding, std::string_view side, std::int64_t has,
                          std::int64_t words) {
  finding.code = Code::padding;
  finding.message = fmt::format(
      "the {} has {} rows and the configuration {} words: the last {} are padding that was not cut "
      "off; the others are compared",
      side, has, words, has - words);
  return finding;
}

}  // namespace

void trim_vocabulary(std::span<Tensor> reference, std::span<Tensor> candidate,
                     std::span<const align::PairIndex> pairs, std::span<const char> evidence,
                     const std::set<std::int64_t>& words, std::optional<std::int64_t> step,
                     Verdict& verdict) {
  if (words.empty()) return;
  for (const align::PairIndex& pair : pairs) {
    const auto place = static_cast<std::size_t>(&pair - pairs.data());
    const bool said = evidence.empty() || evidence[place] == 0;
    Tensor& left = reference[pair.reference];
    Tensor& right = candidate[pair.candidate];
    if (!same_but_rows(left.shape, right.shape) || pair.rescaling != nullptr) continue;
    Tensor& larger = left.shape.front() > right.shape.front() ? left : right;
    const Tensor& smaller = &larger == &left ? right : left;
    const std::int64_t rows = smaller.shape.front();
    // Whole multiples are copies one behind the other: another fault.
    const bool stated = words.contains(rows) && !words.contains(larger.shape.front()) && rows > 0 &&
                        larger.shape.front() % rows != 0;
    if (!stated || !is_plain(larger)) continue;
    if (said) {
      const Finding shapes = verdict::shape_finding(left, right, step);
      verdict.findings.push_back(shapes);
      verdict.findings.push_back(untrimmed_finding(
          shapes, &larger == &left ? "reference" : "candidate", larger.shape.front(), rows));
    }
    keep_rows(larger.pieces, larger.shape, rows);
    keep_rows(larger.replicas, larger.shape, rows);
    larger.shape.front() = rows;
  }
}

}  // namespace ttcheck::diff
