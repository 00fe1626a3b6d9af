// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/heat.hpp"
#include "reports/paint.hpp"
#include "reports/shown_axes.hpp"
#include "reports/shown_histogram.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMapMargin = 12;

std::size_t listed(std::size_t rows, const ReportOptions& options) {
  return options.top <= 0 ? rows : std::min(rows, static_cast<std::size_t>(options.top));
}

std::string more(std::size_t left) {
  return left == 0 ? "" : fmt::format("... and {} more (--top 0)\n", left);
}

std::string place_words(const std::optional<Where>& where) {
  if (!where || where->file.empty()) return "-";
  return where->offset ? fmt::format("{} at byte {}", terminal_text(where->file), *where->offset)
                       : terminal_text(where->file);
}

std::string rank_word(std::int32_t rank) { return rank < 0 ? "-" : fmt::format("{}", rank); }

std::string confined_words(const Profile& profile) {
  if (!profile.confined) return "";
  const Confinement& confined = *profile.confined;
  const AxisProfile& axis = profile.axes[confined.axis];
  const std::int64_t slices = confined.last - confined.first + 1;
  return fmt::format("{} of the error lies in {}, {} of {}", percent_words(confined.share),
                     slice_words(axis, confined.first, confined.last),
                     axis.name == "head" ? slices / axis.slices_per_bin : slices,
                     axis.name == "head" ? axis.extent / axis.slices_per_bin : axis.extent);
}

/// What the tensor is.
std::string tensor_lines(const Verdict& verdict, const ReportOptions& options) {
  const TensorResult& result = verdict.tensors.front();
  const Shown& shown = *verdict.shown;
  std::string text;
  if (!verdict.first) {
    text += labelled("tensor",
                     fmt::format("{}, {} {} {}", reports::shown(result.identity), name(result.kind),
                                 name(result.dtype), bracketed(result.shape)),
                     options.width);
  }
  if (!shown.dims.empty()) text += labelled("dims", terminal_text(shown.dims), options.width);
  if (result.step && !verdict.first) {
    text += labelled("step", fmt::format("{}", *result.step), options.width);
  }
  if (!shown.choice.empty()) text += labelled("which", shown.choice, options.width);
  if (verdict.outcome && !verdict.first && result.metrics.count > 0) {
    if (result.outcome() == Outcome::equal) {
      text += labelled(
          "error",
          result.cast.empty() ? "none, bit for bit" : "none after " + terminal_text(result.cast),
          options.width);
    } else {
      text += labelled("error", error_words(result), options.width);
    }
    text += labelled("size", size_words(result), options.width);
  }
  if (shown.profile) {
    const std::string confined = confined_words(*shown.profile);
    if (!confined.empty()) text += labelled("within", confined, options.width);
  }
  for (const std::string& hint : shown.hints) {
    text += labelled("note", terminal_text(hint), options.width);
  }
  return text;
}

std::string values_table(const Verdict& verdict, const ReportOptions& options) {
  const Profile& profile = *verdict.shown->profile;
  const Shape& shape = verdict.tensors.front().shape;
  Columns columns("lrrrrrrrrr");
  columns.add({"Values", "finite", "least", "most", "mean", "std", "rms", "zeros", "NaN", "Inf"});
  std::string notes;
  for (std::size_t side = 0; side < profile.sides.size(); ++side) {
    const ValueStats& one = profile.sides[side];
    const std::string word = !profile.pair ? "tensor" : side == 0 ? "reference" : "candidate";
    const bool any = one.finite > 0;
    columns.add({profile.pair ? word : "of the tensor", thousands(one.finite),
                 any ? short_number(one.least) : "-", any ? short_number(one.most) : "-",
                 any ? short_number(one.mean) : "-", any ? short_number(one.deviation()) : "-",
                 any ? short_number(one.rms()) : "-", thousands(one.zeros),
                 one.nan > 0 ? thousands(one.nan) : "",
                 one.plus_inf + one.minus_inf > 0 ? thousands(one.plus_inf + one.minus_inf) : ""});
    for (const auto& [what, index] :
         {std::pair{"NaN", one.first_nan}, std::pair{"+Inf", one.first_plus_inf},
          std::pair{"-Inf", one.first_minus_inf}}) {
      if (index < 0) continue;
      notes += labelled(
          "first", fmt::format("{} of the {} at {}", what, word, bracketed(unravel(shape, index))),
          options.width);
    }
  }
  return table_section(columns, options) + notes;
}

std::string parts_table(const Verdict& verdict, const ReportOptions& options) {
  const std::vector<StoredPart>& parts = verdict.shown->parts;
  if (parts.empty()) return "";
  Columns columns("rlllll");
  columns.add({"rank", verdict.outcome ? "Stored in the candidate" : "Stored", "dtype", "box", "",
               "where"});
  const std::size_t most = listed(parts.size(), options);
  for (std::size_t i = 0; i < most; ++i) {
    const StoredPart& part = parts[i];
    columns.add({part.rank < 0 ? "" : rank_word(part.rank), std::string(part.role),
                 std::string(name(part.dtype)), box_words(part.box),
                 part.boxes > 1 ? fmt::format("and {} more", thousands(part.boxes - 1)) : "",
                 place_words(part.where)});
  }
  return table_section(columns, options) + more(parts.size() - most);
}

std::string ranks_table(const Verdict& verdict, const ReportOptions& options) {
  const TensorResult& result = verdict.tensors.front();
  if (result.ranks.empty()) return "";
  std::vector<const RankError*> ranks;
  for (const RankError& one : result.ranks) ranks.push_back(&one);
  const auto error_of = [](const RankError* one) {
    return one->metrics.non_finite_disagree > 0 ? HUGE_VAL : one->metrics.rel();
  };
  std::ranges::stable_sort(ranks, std::ranges::greater{}, error_of);
  Columns columns("rrrrrrl");
  columns.add({"Rank", "elements", "differ", "error", "ratio", "max |b-a|", ""});
  const std::size_t most = listed(ranks.size(), options);
  for (std::size_t i = 0; i < most; ++i) {
    const Metrics& m = ranks[i]->metrics;
    const double limit = result.limit.kind == LimitKind::tolerance ? 0 : result.limit.rel;
    const bool wrong =
        std::ranges::find(result.wrong_ranks, ranks[i]->rank) != result.wrong_ranks.end();
    columns.add({rank_word(ranks[i]->rank), thousands(m.count), thousands(m.unequal_values),
                 short_number(error_of(ranks[i])),
                 limit > 0 ? short_number(error_of(ranks[i]) / limit) : "", short_number(m.max_abs),
                 wrong ? "beyond" : ""});
  }
  return table_section(columns, options) + more(ranks.size() - most);
}

/// The last dimension against the others, one character a block.
std::string block_map(const Profile& profile, const ReportOptions& options) {
  if (!profile.blocks || profile.blocks->blocks.size() < 2) return "";
  const BlockProfile& blocks = *profile.blocks;
  if (profile.pair && profile.all.unequal == 0) return "";
  const std::vector<double> sizes = sizes_of(blocks.blocks, profile);
  const Heat heat(largest_finite(sizes), options.unicode);
  const std::string what = profile.pair ? "Error by block" : "Rms by block";
  std::string text = "\n" +
                     Paint(options.color)
                         .bold(fmt::format("{} of {} x {} elements", what, blocks.block_rows,
                                           blocks.block_columns)) +
                     "\n";
  text += labelled("", heat.legend(), options.width);
  for (std::int64_t row = 0; row < blocks.down; ++row) {
    std::string line = fmt::format("{:>{}} |", row * blocks.block_rows, kMapMargin - 2);
    for (std::int64_t column = 0; column < blocks.across; ++column) {
      line += heat.shade(sizes[static_cast<std::size_t>(row * blocks.across + column)]);
    }
    text += line + "|\n";
  }
  return text;
}

std::string value_words(const std::array<double, 2>& value, bool complex) {
  return complex ? fmt::format("{:.9g}{:+.9g}i", value[0], value[1])
                 : fmt::format("{:.9g}", value[0]);
}

std::string elements_table(const Verdict& verdict, const ReportOptions& options) {
  const Profile& profile = *verdict.shown->profile;
  if (profile.elements.empty()) return "";
  const TensorResult& result = verdict.tensors.front();
  const bool complex = is_complex(result.dtype);
  Columns columns(profile.pair ? "lrrrrll" : "lrll");
  columns.add(profile.pair
                  ? std::vector<std::string>{"Worst elements", "reference", "candidate", "|b-a|",
                                             "ulp", "ranks", "where"}
                  : std::vector<std::string>{"Largest elements", "value", "ranks", "where"});
  const std::size_t most = listed(profile.elements.size(), options);
  for (std::size_t i = 0; i < most; ++i) {
    const ProfiledElement& one = profile.elements[i];
    const std::string at = bracketed(unravel(result.shape, one.index));
    if (profile.pair) {
      columns.add({at, value_words(one.a, complex), value_words(one.b, complex),
                   std::isnan(one.difference) ? "" : short_number(one.difference),
                   one.ulp ? fmt::format("{}", *one.ulp) : "", folded(one.ranks),
                   place_words(one.where)});
    } else {
      columns.add({at, value_words(one.a, complex), folded(one.ranks), place_words(one.where)});
    }
  }
  return table_section(columns, options);
}

}  // namespace

std::vector<ShownPart> shown_parts(const Verdict& verdict, const ReportOptions& options) {
  if (verdict.tensors.empty()) return {};
  const Paint paint(options.color);
  std::vector<ShownPart> parts;
  if (!verdict.outcome && verdict.reference) {
    parts.push_back({fmt::format("{}  {}\n", paint.bold(terminal_text(verdict.reference->path)),
                                 terminal_text(verdict.reference->format)),
                     9});
  }
  const std::string lines = tensor_lines(verdict, options);
  if (!lines.empty()) {
    const std::string heading = paint.bold(verdict.outcome ? "Inside the tensor" : "Tensor");
    parts.push_back({"\n" + heading + "\n" + lines, 8});
  }
  const Shown& shown = *verdict.shown;
  if (shown.profile) {
    const Profile& profile = *shown.profile;
    parts.push_back({axes_section(profile, options), 2});
    parts.push_back({block_map(profile, options), 7});
    parts.push_back({ranks_table(verdict, options), 6});
    parts.push_back({histogram_section(profile, options), 3});
    parts.push_back({values_table(verdict, options), 5});
    parts.push_back({elements_table(verdict, options), 4});
  }
  parts.push_back({parts_table(verdict, options), 1});
  return parts;
}

std::string shown_section(const Verdict& verdict, const ReportOptions& options) {
  std::string text;
  for (const ShownPart& part : shown_parts(verdict, options)) text += part.text;
  return text;
}

}  // namespace ttcheck::reports
