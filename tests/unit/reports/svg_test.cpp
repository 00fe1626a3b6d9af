// SPDX-License-Identifier: Apache-2.0
#include "reports/svg.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ttcheck::reports {
namespace {

TEST_CASE("how wrong something is has a shade") {
  struct Row {
    double ratio;
    const char* shade;
  };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const Row& row : {Row{0, "h0"},
                         {1e-9, "h1"},
                         {1, "h1"},
                         {1.001, "h2"},
                         {10, "h2"},
                         {1000, "h3"},
                         {1001, "h4"},
                         {1e6, "h4"},
                         {1.1e6, "h5"},
                         {kInfinite, "h5"},
                         {std::nan(""), "h5"}}) {
    CHECK(heat_class(row.ratio) == row.shade);
  }
}

TEST_CASE("NM06: names in a picture are text, and the picture has words beside it") {
  Svg svg(100, 50);
  svg.rect(1, 2, 3, 4, "h2", "<b>");
  svg.text(5, 6, "a&b", "end", true);
  svg.slanted(7, 8, "\"c\"");
  const std::string figure = svg.figure("id", "t<", "w>");
  CHECK(figure.find("<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" "
                    "class=\"h2\"><title>&#60;b&#62;</title></rect>") != std::string::npos);
  CHECK(figure.find("text-anchor=\"end\" class=\"on\">a&#38;b</text>") != std::string::npos);
  CHECK(figure.find("rotate(-55 7 8)\">&#34;c&#34;</text>") != std::string::npos);
  CHECK(figure.find("<h2 id=\"id\">t&#60;</h2>") != std::string::npos);
  CHECK(figure.find("<figcaption id=\"id-words\">w&#62;</figcaption>") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::reports
