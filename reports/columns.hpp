// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text laid out in columns of a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::reports {

/// Columns that valid UTF-8 text takes, one for each code point.
std::size_t columns_of(std::string_view text);

/// A table: rows of cells; each column is as wide as its widest cell. Numbers are set to the right.
class Columns {
 public:
  /// One letter per column: `l` left, `r` right. The first row is the heading.
  explicit Columns(std::string alignment) : alignment_(std::move(alignment)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::size_t rows() const { return rows_.size(); }

  /// Lines, each with `indent` blanks before it and none at its end. Columns that are empty in all
  /// rows but the heading are left out.
  std::string text(std::size_t indent) const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

/// The text broken at blanks before `width`, each line behind `indent` blanks. Line ends in it are
/// kept.
std::string wrapped(std::string_view text, std::size_t indent, int width);

/// `label` in a column of its own, then the text, broken at blanks before `width`; further lines
/// start under the text. Line ends in the text are kept.
std::string labelled(std::string_view label, std::string_view text, int width);

}  // namespace ttcheck::reports
