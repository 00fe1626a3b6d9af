#include <algorithm>

#include "core/model/box.hpp"
#include "reports/json_parts.hpp"
#include "reports/shown_axes.hpp"

namespace ttcheck::reports {
namespace {

Json index_of(const Shape& shape, std::int64_t linear) {
  return linear < 0 ? Json(nullptr) : Json(unravel(shape, linear));
}

Json json_of(const StoredPart& part) {
  return {{"rank", part.rank < 0 ? Json(nullptr) : Json(part.rank)},
          {"role", std::string(part.role)},
          {"dtype", std::string(name(part.dtype))},
          {"lo", part.box.lo},
          {"size", part.box.size},
          {"boxes", part.boxes},
          {"where", where_of(part.where)}};
}

Json json_of(const ValueStats& stats, const Shape& shape) {
  const auto of = [&](double value) { return stats.finite > 0 ? number(value) : Json(nullptr); };
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

Json json_of(const AxisProfile& axis, const Profile& profile, const ReportOptions& options) {
  constexpr std::size_t kListed = 10;
  const std::vector<double> sizes = sizes_of(axis.bins, profile);
  const auto row = [&](std::size_t bin) {
    const Sums& sums = axis.bins[bin];
    const auto first = static_cast<std::int64_t>(bin) * axis.slices_per_bin;
    return Json{{"first", first},
                {"last", std::min(first + axis.slices_per_bin, axis.extent) - 1},
                {profile.pair ? "error" : "rms", number(sizes[bin])},
                {"a2", number(sums.a2)},
                {"d2", number(sums.d2)},
                {"largest", number(sums.largest)},
                {"unequal", sums.unequal},
                {"non_finite", sums.non_finite}};
  };
  Json bins = Json::array();
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

Json json_of(const BlockProfile& blocks, const Profile& profile) {
  const std::vector<double> sizes = sizes_of(blocks.blocks, profile);
  Json rows = Json::array();
  for (std::int64_t down = 0; down < blocks.down; ++down) {
    Json row = Json::array();
    for (std::int64_t across = 0; across < blocks.across; ++across) {
      row.push_back(number(sizes[static_cast<std::size_t>(down * blocks.across + across)]));
    }
    rows.push_back(std::move(row));
  }
  return {{"block", {blocks.block_rows, blocks.block_columns}},
          {profile.pair ? "error" : "rms", rows}};
}

Json json_of(const PowerHistogram& histogram) {
  return {{"unit", number(histogram.unit)}, {"lowest", histogram.lowest},
          {"zeros", histogram.zeros},       {"non_finite", histogram.non_finite},
          {"bins", histogram.bins},         {"negative_bins", histogram.negative_bins}};
}

Json json_of(const ProfiledElement& element, const TensorResult& tensor, bool pair) {
  const auto value = [&](const std::array<double, 2>& parts) {
    return is_complex(tensor.dtype) ? Json{number(parts[0]), number(parts[1])} : number(parts[0]);
  };
  Json object = {{"index", unravel(tensor.shape, element.index)}};
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

Json json_of(const std::optional<Confinement>& confined, const Profile& profile) {
  if (!confined) return nullptr;
  const AxisProfile& axis = profile.axes[confined->axis];
  return {{"axis", text(axis.name)},
          {"dim", axis.dim},
          {"first", confined->first},
          {"last", confined->last},
          {"share", number(confined->share)}};
}

Json json_of(const Profile& profile, const TensorResult& tensor, const ReportOptions& options) {
  Json values = Json::array();
  for (const ValueStats& side : profile.sides) values.push_back(json_of(side, tensor.shape));
  Json axes = Json::array();
  for (const AxisProfile& axis : profile.axes) axes.push_back(json_of(axis, profile, options));
  Json elements = Json::array();
  for (const ProfiledElement& element : profile.elements) {
    elements.push_back(json_of(element, tensor, profile.pair));
  }
  return {{"values", values},
          {"confined", json_of(profile.confined, profile)},
          {"axes", axes},
          {"blocks", profile.blocks ? json_of(*profile.blocks, profile) : Json(nullptr)},
          {"histogram", json_of(profile.histogram)},
          {"elements", elements}};
}

}  // namespace

Json json_of(const Shown& shown, const Verdict& verdict, const ReportOptions& options) {
  if (verdict.tensors.empty()) return nullptr;
  const TensorResult& tensor = verdict.tensors.front();
  const bool trace = tensor.identity.phase != Phase::none;
  Json parts = Json::array();
  for (const StoredPart& part : shown.parts) parts.push_back(json_of(part));
  Json hints = Json::array();
  for (const std::string& hint : shown.hints) hints.push_back(text(hint));
  return {{"name", text(tensor.identity.name)},
          {"kind", std::string(name(tensor.kind))},
          {"dtype", std::string(name(tensor.dtype))},
          {"shape", tensor.shape},
          {"dims", text_or_null(shown.dims)},
          {"step", value_or_null(tensor.step)},
          {"phase", trace ? Json(std::string(name(tensor.identity.phase))) : Json(nullptr)},
          {"microbatch", trace ? Json(tensor.identity.microbatch) : Json(nullptr)},
          {"call", trace ? Json(tensor.identity.call) : Json(nullptr)},
          {"which", text_or_null(shown.choice)},
          {"notes", hints},
          {"compared", verdict.outcome ? reports::json_of(tensor) : Json(nullptr)},
          {"parts", parts},
          {"profile", shown.profile ? json_of(*shown.profile, tensor, options) : Json(nullptr)}};
}

}  // namespace ttcheck::reports
