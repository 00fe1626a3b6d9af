// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/zero_words.hpp"
#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

std::string where_words(const Divergence& first) {
  std::string text = first.phase == Phase::none ? "" : std::string(name(first.phase)) + " ";
  text += terminal_text(first.tensor.empty() ? first.op : first.tensor);
  if (first.step) text += fmt::format(", step {}", *first.step);
  if (first.microbatch.value_or(0) > 0) text += fmt::format(", micro-batch {}", *first.microbatch);
  if (first.index && !first.index->empty()) text += ", element " + bracketed(*first.index);
  return text;
}

std::string_view test_words(Test test) {
  switch (test) {
    case Test::row:
      return "in the worst row";
    case Test::moved:
      return "of its values on average";
    case Test::outlier:
      return "at the worst element";
    case Test::elementwise:
      return "of the elementwise tolerance";
    case Test::energy:
      return "energy distance";
    case Test::rest:
      return "relative, but for one value alike on both sides";
    default:
      return "relative";
  }
}

std::string dtype_words(const TensorResult& result) {
  std::string text = std::string(name(result.dtype)) + " " + bracketed(result.shape);
  if (result.dtype != result.candidate_dtype) {
    text += fmt::format(", {} in the candidate", name(result.candidate_dtype));
  }
  if (!result.candidate_name.empty() && result.candidate_name != result.identity.name) {
    text += ", there named " + terminal_text(result.candidate_name);
  }
  return text;
}

std::string place_words(const Where& where) {
  return where.offset ? fmt::format("{} at byte {}", terminal_text(where.file), *where.offset)
                      : terminal_text(where.file);
}

std::string why_words(const Finding& finding) {
  std::string text = fmt::format("{} {}: {}", to_string(finding.code), info(finding.code).name,
                                 message_text(finding.message));
  if (finding.hypotheses.empty()) return text;
  return text + fmt::format(" ({})", hypothesis_words(finding.hypotheses.front()));
}

std::string rank_words(const Divergence& first) {
  std::string text = folded(first.ranks);
  const std::string axes = axes_words(first.axes);
  return axes.empty() ? text : fmt::format("{} ({})", text, axes);
}

}  // namespace

std::string error_words(const TensorResult& result) {
  const std::string source = terminal_text(result.limit.source);
  const Metrics& m = result.metrics;
  if (m.count == 0) {  // no values, only what was stored of them
    return fmt::format("{} times the limit ({})", short_number(result.ratio), source);
  }
  if (m.non_finite_disagree > 0) {
    return fmt::format("NaN or Inf on one side only at {} of {} elements",
                       thousands(m.non_finite_disagree), thousands(m.count));
  }
  if (const std::string zeros = zero_words(result); !zeros.empty()) return zeros;
  if (result.limit.kind == LimitKind::exact || result.limit.kind == LimitKind::copy) {
    return fmt::format("{} of {} elements differ, relative error {}; none may ({})",
                       thousands(m.unequal_values), thousands(m.count), short_number(m.rel()),
                       source);
  }
  if (result.test == Test::elementwise && std::isfinite(result.error)) {
    return fmt::format("the worst element is off by {} times what is tolerated ({})",
                       short_number(result.error), source);
  }
  if (result.test == Test::elementwise) {
    return fmt::format("{} of {} elements differ where no difference is tolerated ({})",
                       thousands(m.unequal_values), thousands(m.count), source);
  }
  if (result.test == Test::recomputed) {
    return fmt::format(
        "{} off what its own inputs give, {} times what rounding explains; {} "
        "relative, within its limit {} ({})",
        short_number(result.error), short_number(result.ratio), short_number(m.rel()),
        short_number(result.limit.rel), source);
  }
  if (result.test == Test::lean || result.test == Test::own) {
    return fmt::format(
        "{} {}, {} times what rounding explains; {} relative, {} {} ({})",
        short_number(result.error),
        result.test == Test::lean ? "to one side in most values" : "behind inputs that are equal",
        short_number(result.ratio), short_number(m.rel()),
        m.rel() > result.limit.rel ? "beside a limit of" : "within its limit",
        short_number(result.limit.rel), source);
  }
  return fmt::format("{} {}, {} times the limit {} ({})", short_number(result.error),
                     test_words(result.test), short_number(result.ratio),
                     short_number(result.allowed), source);
}

std::string size_words(const TensorResult& result) {
  const Metrics& m = result.metrics;
  std::int64_t finite = m.count, differ = m.unequal_values;
  std::string text;
  if (m.non_finite_disagree > 0) {  // these numbers are of the others
    finite -= m.taken_out;
    differ -= m.non_finite_disagree;
    if (finite == 0) return "no element is finite on both sides";
    text = finite == 1 ? "the other element: "
                       : fmt::format("the other {} elements: ", thousands(finite));
    if (differ == 0) return text + "equal";
  }
  text += fmt::format("max |b-a| {}", short_number(m.max_abs));
  if (m.max_abs_index >= 0 && !result.shape.empty()) {
    text += " at " + bracketed(unravel(result.shape, m.max_abs_index));
  }
  if (m.sum_a2 > 0 && m.sum_b2 > 0) {
    text += fmt::format(", cosine {:.6g}, norm ratio {:.6g}", m.cosine(), m.norm_ratio());
  }
  return text + fmt::format(", {} of {} elements differ", thousands(differ), thousands(finite));
}

std::string first_section(const Verdict& verdict, const ReportOptions& options) {
  if (!verdict.first) return "";
  const Paint paint(options.color);
  const int width = options.width;
  std::string text = "\n" + paint.bold("First difference") + "\n";
  for (const std::string& before : causes_before(verdict)) {
    text += labelled("before", before, width);
  }
  text += labelled("where", where_words(*verdict.first), width);
  const TensorResult* result = result_of_first(verdict);
  if (result != nullptr) {
    text += labelled("tensor", dtype_words(*result), width);
    text += labelled("error", error_words(*result), width);
    if (result->metrics.count > 0) text += labelled("size", size_words(*result), width);
  }
  if (!verdict.first->ranks.empty()) text += labelled("ranks", rank_words(*verdict.first), width);
  const Finding* finding = finding_of_first(verdict);
  const Places places = result != nullptr && result->places ? *result->places : Places{};
  const auto where = places.candidate     ? places.candidate
                     : finding != nullptr ? finding->where
                                          : std::nullopt;
  if (where) text += labelled("file", place_words(*where), width);
  if (places.reference && options.verbose > 1) {
    text += labelled("reference", place_words(*places.reference), width);
  }
  if (finding != nullptr) text += labelled("why", why_words(*finding), width);
  if (const std::string others = other_roots(verdict); !others.empty()) {
    text += labelled("also in", others, width);
  }
  return text;
}

}  // namespace ttcheck::reports
