// SPDX-License-Identifier: Apache-2.0
#include "reports/markup.hpp"

#include <doctest/doctest.h>

namespace ttcheck::reports {
namespace {

TEST_CASE("NM06: no markup comes of a name, in text or in an attribute") {
  CHECK(html_text("a.b-1") == "a.b-1");
  CHECK(html_text("<i onx='a' b=\"c\">&`") ==
        "&#60;i onx=&#39;a&#39; b=&#34;c&#34;&#62;&#38;&#96;");
}

TEST_CASE("NM11: no link, mention, table or emphasis of Markdown") {
  CHECK(markdown_text("layers.1.mlp") == "layers.1.mlp");
  CHECK(markdown_text("a_b|*c*") == "a&#95;b&#124;&#42;c&#42;");
  CHECK(markdown_text("[x](http://y)") == "&#91;x&#93;(http&#58;//y)");
  CHECK(markdown_text("www.y @z #1") == "www&#46;y &#64;z &#35;1");
}

TEST_CASE("NM08: no cell is a formula, and none breaks a row") {
  CHECK(csv_cell("w") == "w");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("a\"b") == "\"a\"\"b\"");
  for (const char* const first : {"=", "+", "-", "@", "\t", "\r"}) {
    CHECK(csv_cell(std::string(first) + "1") == "\"'" + std::string(first) + "1\"");
  }
  CHECK(csv_cell("").empty());
}

TEST_CASE("a label of Prometheus") { CHECK(label_text("a\"b\\c\nd") == "a\\\"b\\\\c\\nd"); }

}  // namespace
}  // namespace ttcheck::reports
