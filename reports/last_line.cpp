// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/terminal.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
  return text;
}

/// A value of the last line holds no blank.
std::string word(const std::string& bytes) {
  std::string text = terminal_text(bytes);
  std::ranges::replace(text, ' ', '_');
  return text.empty() ? "-" : text;
}

/// The start of the reason, up to a colon or a blank: a message may be long, and go on with a
/// picture of what it is about. All of it is said above.
std::string reason_word(const std::string& reason) {
  constexpr std::size_t kMostBytes = 60;
  std::string line = reason.substr(0, reason.find_first_of(":;\n"));
  if (line.size() > kMostBytes) {
    const std::size_t blank = line.rfind(' ', kMostBytes);
    line = line.substr(0, blank == std::string::npos ? kMostBytes : blank) + "...";
  }
  return word(line);
}

/// The finding or result that `first` is about, for its ratio.
std::optional<double> ratio_of_first(const Verdict& verdict) {
  if (const TensorResult* const result = result_of_first(verdict)) return result->ratio;
  for (const Finding& finding : verdict.findings) {
    if (finding.ratio && finding.tensor == verdict.first->tensor &&
        finding.step == verdict.first->step) {
      return finding.ratio;
    }
  }
  return std::nullopt;
}

/// Says the errors beside values that are right: " errors=1", or nothing.
std::string errors_word(const Verdict& verdict) {
  const std::int64_t errors = errors_beside(verdict);
  return errors > 0 ? fmt::format(" errors={}", errors) : "";
}

/// " known=1" where differences were set apart.
std::string known_word(const Verdict& verdict) {
  const std::int64_t known = known_differences(verdict);
  return known > 0 ? fmt::format(" known={}", known) : "";
}

/// The limits file that calibrate wrote.
std::string written_word(const Verdict& verdict) {
  const bool written = verdict.calibration && !verdict.calibration->file.empty();
  return written ? fmt::format(" written={}", word(verdict.calibration->file)) : "";
}

/// What a search came to, behind the comparison that it shows: " first_bad=40"; nothing otherwise.
std::string search_word(const Verdict& verdict) {
  if (!verdict.search) return "";
  const auto& step = verdict.search->first_bad_step;
  return fmt::format(" first_bad={}",
                     step ? fmt::format("{}", *step) : word(verdict.search->first_bad_op));
}

}  // namespace

std::string last_line(const Verdict& verdict) {
  if (!verdict.outcome) {
    const auto& run = verdict.reference;
    if (!run || (run->format.empty() && run->tensors == 0)) return "ttcheck: NOT-READ";
    return fmt::format("ttcheck: INFO format={} tensors={} bytes={} complete={}",
                       word(verdict.reference->format), verdict.reference->tensors,
                       verdict.reference->bytes, verdict.complete ? "yes" : "no");
  }
  std::string line = fmt::format("ttcheck: {}", upper(name(*verdict.outcome)));
  if (*verdict.outcome == Outcome::not_comparable) {
    line += fmt::format(" reason={}", reason_word(verdict.reason));
  }
  if (verdict.first) {
    const auto ratio = ratio_of_first(verdict);
    const std::string ranks = folded(verdict.first->ranks);
    return line +
           fmt::format(
               " first={} step={} ratio={} ranks={}",
               word(verdict.first->tensor.empty() ? verdict.first->op : verdict.first->tensor),
               verdict.first->step ? fmt::format("{}", *verdict.first->step) : "-",
               ratio ? short_number(*ratio) : "-", ranks.empty() ? "-" : ranks) +
           known_word(verdict) + search_word(verdict);
  }
  return line +
         fmt::format(" tensors={} bytes={} complete={}", verdict.coverage.paired,
                     verdict.coverage.bytes_compared, verdict.complete ? "yes" : "no") +
         errors_word(verdict) + known_word(verdict) + written_word(verdict) + search_word(verdict);
}

}  // namespace ttcheck::reports
