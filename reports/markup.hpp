// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text that is safe on a terminal (reports/escape.hpp) as other programs take it. REQUIRES such
// text.

#include <string>
#include <string_view>

namespace ttcheck::reports {

/// In the text and in quoted attributes of HTML and XML.
std::string html_text(std::string_view text);

/// In Markdown of the common dialects, also in a cell of a table: no markup, link, mention, image
/// or HTML comes of it.
std::string markdown_text(std::string_view text);

/// A cell of a CSV file (RFC 4180), quoted where it must be. What a spreadsheet would take for a
/// formula begins with an apostrophe.
std::string csv_cell(std::string_view text);

/// The value of a Prometheus label.
std::string label_text(std::string_view text);

}  // namespace ttcheck::reports
