// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pictures of the page: shapes with classes, which the style colours, and a text that says the
// same.

#include <string>
#include <string_view>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// How wrong something is, as the class of a shape: "h0" equal, "h1" within its limit, "h2" to "h5"
/// up to 10, 1,000, a million times it and more.
std::string_view heat_class(double ratio);

/// What the classes mean, as HTML.
std::string heat_legend();

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  /// `tip` is shown where the pointer rests; escaped here.
  void rect(double x, double y, double width, double height, std::string_view shade,
            std::string_view tip = "");
  void line(double x1, double y1, double x2, double y2, std::string_view shade);
  /// `anchor`: "start" "middle" "end". `on`: it stands on a dark shape.
  void text(double x, double y, std::string_view words, std::string_view anchor = "start",
            bool on = false);

  /// The name of a column, upwards from its head.
  void slanted(double x, double y, std::string_view words);

  /// A section with the picture under `title`; `words` stand beside it for who does not see it,
  /// then `below`, which is HTML.
  std::string figure(std::string_view id, std::string_view title, std::string_view words,
                     std::string_view below = "") const;

 private:
  double width_, height_;
  std::string body_;
};

}  // namespace ttcheck::reports
