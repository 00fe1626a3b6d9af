// SPDX-License-Identifier: Apache-2.0
#include "core/model/rename.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/model/caret.hpp"
#include "core/model/expression.hpp"

namespace ttcheck {
namespace {

constexpr auto kAxes = std::to_array<std::string_view>(
    {"pp", "vpp", "dp", "cp", "tp", "sp", "ep", "etp", "edp", "fsdp", "mb"});

/// Extent of an axis; `vpp`, which is no axis of ranks, may be a number of [model].
std::int64_t extent(const Layout& layout, std::string_view axis) {
  const auto number = layout.model.find(axis);
  if (axis == "vpp" && number != layout.model.end()) return number->second;
  return layout.mesh.size_of(axis);
}

std::int64_t model_number(const Layout& layout, std::string_view name, std::string_view user) {
  const auto found = layout.model.find(name);
  if (found == layout.model.end()) {
    throw Error(fmt::format("{} needs {} in [model]", user, name));
  }
  return found->second;
}

std::int64_t share(std::int64_t all, std::int64_t parts, std::string_view what) {
  if (parts <= 0 || all % parts != 0) {
    throw Error(fmt::format("{}: {} do not divide by {}", what, all, parts));
  }
  return all / parts;
}

/// First layer of a stage's chunk, all of equal length: chunks of one number lie side by side over
/// the stages, and the next number follows.
std::int64_t first_layer(const Layout& layout, std::int64_t pp, std::int64_t vpp) {
  const std::int64_t stages = extent(layout, "pp");
  const std::int64_t layers = model_number(layout, "layers", "first_layer");
  const std::int64_t chunk =
      share(layers, checked_mul(stages, extent(layout, "vpp")), "first_layer: layers");
  return checked_mul(chunk, checked_add(checked_mul(vpp, stages), pp));
}

void check_call(std::string_view name, std::size_t arguments) {
  if (name != "first_layer") throw Error(fmt::format("{} is no function; first_layer is", name));
  if (arguments == 0 || arguments > 2) {
    throw Error(fmt::format("first_layer takes (pp,vpp), not {} numbers", arguments));
  }
}

/// What names mean in `to` of a rule, for one match.
Names names_of(const Layout& layout, const GlobMatch& match, const Coordinates& at) {
  Names names;
  names.value = [&](std::string_view name) {
    if (const auto capture = match.captures.find(name); capture != match.captures.end()) {
      return capture->second;
    }
    if (const auto place = at.find(name); place != at.end()) return place->second;
    const auto is_axis = [&](const Axis& axis) { return axis.name == name; };
    if (std::find(kAxes.begin(), kAxes.end(), name) != kAxes.end() ||
        std::any_of(layout.mesh.axes.begin(), layout.mesh.axes.end(), is_axis) ||
        std::any_of(layout.mesh.expert_axes.begin(), layout.mesh.expert_axes.end(), is_axis)) {
      return coordinate(at, name);
    }
    if (const auto number = layout.model.find(name); number != layout.model.end()) {
      return number->second;
    }
    if (name == "experts_per_rank") {
      return share(model_number(layout, "experts", name), extent(layout, "ep"), name);
    }
    throw Error(fmt::format("{} is no capture, mesh axis or number of [model]", name));
  };
  names.call = [&](std::string_view name, std::span<const std::int64_t> arguments) {
    check_call(name, arguments.size());
    return first_layer(layout, arguments[0], arguments.size() > 1 ? arguments[1] : 0);
  };
  return names;
}

/// `to` with its wildcards and expressions filled in.
std::string fill(std::string_view to, const GlobMatch& match, const Names& names) {
  std::string name;
  std::size_t wildcard = 0;
  for (std::size_t i = 0; i < to.size();) {
    const char c = to[i];
    if (c == '\\' && i + 1 < to.size()) {
      name += to[i + 1];
      i += 2;
    } else if (c == '*') {
      const std::size_t end = to.substr(i, 2) == "**" ? i + 2 : i + 1;
      if (wildcard == match.wildcards.size()) {
        throw LineError("no wildcard of match is left for this one", to, i);
      }
      const std::string& text = match.wildcards[wildcard++];
      name += text;
      const bool nothing = text.empty() && (name.empty() || name.back() == '.');
      i = nothing && end < to.size() && to[end] == '.' ? end + 1 : end;
    } else if (c == '{') {
      const std::size_t close = to.find('}', i);
      if (close == std::string_view::npos) throw LineError("the brace is not closed", to, i);
      try {
        name += fmt::format("{}", evaluate(to.substr(i + 1, close - i - 1), names));
      } catch (const LineError& error) {
        throw LineError(error.said(), to, i + 1 + error.at());
      }
      i = close + 1;
    } else {
      name += c;
      ++i;
    }
  }
  return name;
}

}  // namespace

bool rename(const Layout& layout, const RenameRule& rule, const Coordinates& at,
            std::string& name) {
  const auto match = rule.glob ? rule.glob->match(name) : Glob(rule.match).match(name);
  if (!match) return false;
  try {
    name = fill(rule.to, *match, names_of(layout, *match, at));
  } catch (const Error& error) {
    throw error.saying(fmt::format("[[rename]] of line {}: {}", rule.line, error.message()))
        .at({layout.file, std::nullopt, name});
  }
  return true;
}

std::string global_name(const Layout& layout, std::string_view name, const Coordinates& at) {
  std::string global(name);
  for (const RenameRule& rule : layout.renames) rename(layout, rule, at, global);
  return global;
}

void check_rename(const RenameRule& rule) {
  // Names have no value yet; any number that no operation trips over will do to check the syntax.
  constexpr std::int64_t kAny = 7919;
  const GlobMatch match{
      .captures = {},
      .wildcards = std::vector<std::string>(Glob(rule.match).wildcard_count(), "x")};
  const Names any{.value = [](std::string_view) { return kAny; },
                  .call =
                      [](std::string_view name, std::span<const std::int64_t> arguments) {
                        check_call(name, arguments.size());
                        return kAny;
                      }};
  fill(rule.to, match, any);
}

}  // namespace ttcheck
