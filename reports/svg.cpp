// SPDX-License-Identifier: Apache-2.0
#include "reports/svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/markup.hpp"

namespace ttcheck::reports {

std::string_view heat_class(double ratio) {
  if (std::isnan(ratio)) return "h5";
  if (ratio <= 0) return "h0";
  if (ratio <= 1) return "h1";
  if (ratio <= 10) return "h2";
  if (ratio <= 1e3) return "h3";
  return ratio <= 1e6 ? "h4" : "h5";
}

std::string heat_legend() {
  struct Row {
    std::string_view shade, words;
  };
  std::string text = "<p class=\"legend\">";
  for (const auto& [shade, words] :
       {Row{"h0", "equal"}, Row{"h1", "within the limit"}, Row{"h2", "up to 10 times"},
        Row{"h3", "1,000"}, Row{"h4", "a million"}, Row{"h5", "more, or NaN"}}) {
    text += fmt::format(
        "<span><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" "
        "height=\"10\" class=\"{}\"/></svg>{}</span> ",
        shade, words);
  }
  return text + "</p>\n";
}

void Svg::rect(double x, double y, double width, double height, std::string_view shade,
               std::string_view tip) {
  body_ +=
      fmt::format("<rect x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{:.5g}\" class=\"{}\"",
                  x, y, width, height, shade);
  body_ += tip.empty() ? "/>" : fmt::format("><title>{}</title></rect>", html_text(tip));
  body_ += '\n';
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view shade) {
  body_ +=
      fmt::format("<line x1=\"{:.5g}\" y1=\"{:.5g}\" x2=\"{:.5g}\" y2=\"{:.5g}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, shade);
}

void Svg::text(double x, double y, std::string_view words, std::string_view anchor, bool on) {
  body_ += fmt::format("<text x=\"{:.5g}\" y=\"{:.5g}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       anchor, on ? " class=\"on\"" : "", html_text(words));
}

void Svg::slanted(double x, double y, std::string_view words) {
  body_ += fmt::format(
      "<text x=\"{0:.5g}\" y=\"{1:.5g}\" transform=\"rotate(-55 {0:.5g} {1:.5g})\">{2}</text>\n", x,
      y, html_text(words));
}

std::string Svg::figure(std::string_view id, std::string_view title, std::string_view words,
                        std::string_view below) const {
  return fmt::format(
      "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n<figure>\n<div class=\"scroll\" "
      "tabindex=\"0\" role=\"group\" aria-label=\"{1}\"><svg class=\"picture\" width=\"{2:.5g}\" "
      "height=\"{3:.5g}\" viewBox=\"0 0 "
      "{2:.5g} "
      "{3:.5g}\" role=\"img\" aria-labelledby=\"{0}\" "
      "aria-describedby=\"{0}-words\">\n{4}</svg></div>\n"
      "<figcaption id=\"{0}-words\">{5}</figcaption>\n</figure>\n{6}</section>\n",
      id, html_text(title), width_, height_, body_, html_text(words), below);
}

}  // namespace ttcheck::reports
