// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/model/box.hpp"
#include "reports/json_parts.hpp"
#include "reports/shown_axes.hpp"

namespace ttcheck::reports {
namespace {

OrderedJson index_of(const Shape& shape, std::int64_t linear) {
  return linear < 0 ? OrderedJson(nullptr) : OrderedJson(unravel(shape, linear));
}

OrderedJson json_of(const StoredPart& part) {
  return {{"rank", part.rank < 0 ? OrderedJson(nullptr) : OrderedJson(part.rank)},
          {"role", std::string(part.role)},
          {"dtype", std::string(name(part.dtype))},
          {"lo", part.box.lo},
          {"size", part.box.size},
          {"boxes", part.boxes},
          {"where", where_of(part.where)}};
}

OrderedJson json_of(const ValueStats& stats, const Shape& shape) {
  const auto of = [&](double value) {
    return stats.finite > 0 ? number(value) : OrderedJson(nullptr);
  };
  return {{"finite", stats.finite},
          {"zeros", stats.zeros},
          {"nan", stats.nan},
          {"inf", stats.plus_inf},
          {"-inf", stats.minus_inf},
          {"first_nan", index_of(shape, stats.first_nan)},
          {"first_inf", index_of(shape, stats.first_plus_inf)},
          {"first_-inf", index_of(shape, stats.first_minus_inf)},
          {"least", of(stats.least)},
          {"least_index", index_of(shape, stats.least_index)},
          {"most", of(stats.most)},
          {"most_index", index_of(shape, stats.most_index)},
          {"mean", of(stats.mean)},
          {"std", of(stats.deviation())},
          {"rms", of(stats.rms())}};
}

OrderedJson json_of(const AxisProfile& axis, const Profile& profile, const ReportOptions& options) {
  constexpr std::size_t kListed = 10;
  const std::vector<double> sizes = sizes_of(axis.bins, profile);
  const auto row = [&](std::size_t bin) {
    const Sums& sums = axis.bins[bin];
    const auto first = static_cast<std::int64_t>(bin) * axis.slices_per_bin;
    return OrderedJson{{"first", first},
                       {"last", std::min(first + axis.slices_per_bin, axis.extent) - 1},
                       {profile.pair ? "error" : "rms", number(sizes[bin])},
                       {"a2", number(sums.a2)},
                       {"d2", number(sums.d2)},
                       {"largest", number(sums.largest)},
                       {"unequal", sums.unequal},
                       {"non_finite", sums.non_finite}};
  };
  OrderedJson bins = OrderedJson::array();
  if (options.all) {
    for (std::size_t bin = 0; bin < axis.bins.size(); ++bin) bins.push_back(row(bin));
  } else {
    for (const std::size_t bin : worst_bins(sizes, kListed)) bins.push_back(row(bin));
  }
  return {{"name", text(axis.name)},
          {"dim", axis.dim},
          {"extent", axis.extent},
          {"slices_per_bin", axis.slices_per_bin},
          {"bins", bins}};
}

OrderedJson json_of(const BlockProfile& blocks, const Profile& profile) {
  const std::vector<double> sizes = sizes_of(blocks.blocks, profile);
  OrderedJson rows = OrderedJson::array();
  for (std::int64_t down = 0; down < blocks.down; ++down) {
    OrderedJson row = OrderedJson::array();
    for (std::int64_t across = 0; across < blocks.across; ++across) {
      row.push_back(number(sizes[static_cast<std::size_t>(down * blocks.across + across)]));
    }
    rows.push_back(std::move(row));
  }
  return {{"block", {blocks.block_rows, blocks.block_columns}},
          {profile.pair ? "error" : "rms", rows}};
}

OrderedJson json_of(const PowerHistogram& histogram) {
  return {{"unit", number(histogram.unit)}, {"lowest", histogram.lowest},
          {"zeros", histogram.zeros},       {"non_finite", histogram.non_finite},
          {"bins", histogram.bins},         {"negative_bins", histogram.negative_bins}};
}

OrderedJson json_of(const ProfiledElement& element, const TensorResult& tensor, bool pair) {
  const auto value = [&](const std::array<double, 2>& parts) {
    return is_complex(tensor.dtype) ? OrderedJson{number(parts[0]), number(parts[1])}
                                    : number(parts[0]);
  };
  OrderedJson object = {{"index", unravel(tensor.shape, element.index)}};
  if (pair) {
    object["reference"] = value(element.a);
    object["candidate"] = value(element.b);
    object["difference"] = number(element.difference);
    object["ulp"] = value_or_null(element.ulp);
    object["reference_where"] = where_of(element.reference_where);
  } else {
    object["value"] = value(element.a);
  }
  object["ranks"] = element.ranks;
  object["where"] = where_of(element.where);
  return object;
}

OrderedJson json_of(const std::optional<Confinement>& confined, const Profile& profile) {
  if (!confined) return nullptr;
  const AxisProfile& axis = profile.axes[confined->axis];
  return {{"axis", text(axis.name)},
          {"dim", axis.dim},
          {"first", confined->first},
          {"last", confined->last},
          {"share", number(confined->share)}};
}

OrderedJson json_of(const Profile& profile, const TensorResult& tensor,
                    const ReportOptions& options) {
  OrderedJson values = OrderedJson::array();
  for (const ValueStats& side : profile.sides) values.push_back(json_of(side, tensor.shape));
  OrderedJson axes = OrderedJson::array();
  for (const AxisProfile& axis : profile.axes) axes.push_back(json_of(axis, profile, options));
  OrderedJson elements = OrderedJson::array();
  for (const ProfiledElement& element : profile.elements) {
    elements.push_back(json_of(element, tensor, profile.pair));
  }
  return {{"values", values},
          {"confined", json_of(profile.confined, profile)},
          {"axes", axes},
          {"blocks", profile.blocks ? json_of(*profile.blocks, profile) : OrderedJson(nullptr)},
          {"histogram", json_of(profile.histogram)},
          {"elements", elements}};
}

}  // namespace

OrderedJson json_of(const Shown& shown, const Verdict& verdict, const ReportOptions& options) {
  if (verdict.tensors.empty()) return nullptr;
  const TensorResult& tensor = verdict.tensors.front();
  const bool trace = tensor.identity.phase != Phase::none;
  OrderedJson parts = OrderedJson::array();
  for (const StoredPart& part : shown.parts) parts.push_back(json_of(part));
  OrderedJson hints = OrderedJson::array();
  for (const std::string& hint : shown.hints) hints.push_back(text(hint));
  return {
      {"name", text(tensor.identity.name)},
      {"kind", std::string(name(tensor.kind))},
      {"dtype", std::string(name(tensor.dtype))},
      {"shape", tensor.shape},
      {"dims", text_or_null(shown.dims)},
      {"step", value_or_null(tensor.step)},
      {"phase",
       trace ? OrderedJson(std::string(name(tensor.identity.phase))) : OrderedJson(nullptr)},
      {"microbatch", trace ? OrderedJson(tensor.identity.microbatch) : OrderedJson(nullptr)},
      {"call", trace ? OrderedJson(tensor.identity.call) : OrderedJson(nullptr)},
      {"which", text_or_null(shown.choice)},
      {"notes", hints},
      {"compared", verdict.outcome ? reports::json_of(tensor) : OrderedJson(nullptr)},
      {"parts", parts},
      {"profile", shown.profile ? json_of(*shown.profile, tensor, options) : OrderedJson(nullptr)}};
}

}  // namespace ttcheck::reports
