// SPDX-License-Identifier: Apache-2.0
#include "cli/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "core/base/for_reason.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/read_text.hpp"
#include "formats/open.hpp"

namespace ttcheck::cli {
namespace {

/// A layout that is meant for `side` and places no file of its runs would be as if nobody had given
/// it.
void require_used(Side side, std::span<const std::reference_wrapper<const Run>> runs,
                  const Options& options) {
  const bool used =
      std::ranges::any_of(runs, [](const Run& run) { return run.format == "rank-files"; });
  for (const SideFile& given : options.layouts) {
    if (used || given.side != side) continue;
    const std::string& pattern = given.layout->pattern;
    std::string words = pattern.empty() ? "it has no files.pattern"
                                        : fmt::format("no file matches its pattern {}", pattern);
    throw Error(fmt::format("a layout that is not used: {}", words), {given.path, {}, {}})
        .because("bad-layout");
  }
}

}  // namespace

Run open_side(const std::string& path, Side side, const Options& options) {
  formats::OpenOptions open;
  open.follow_links = options.follow_links;
  open.several = options.command == "diff" && !options.ensemble;
  for (const SideFile& given : options.layouts) {
    if (given.side != Side::both && given.side != side) continue;
    open.layouts.push_back(*given.layout);
  }
  Result<Run> run = formats::open(path, open);
  if (!run) throw run.error();
  require_used(side, {{*run}}, options);
  return std::move(*run);
}

std::array<Run, 2> open_both(const std::string& reference, const std::string& candidate,
                             const Options& options) {
  std::array<Run, 2> sides;
  std::array<std::optional<Error>, 2> errors;
  parallel_for(sides.size(), [&](std::size_t i) {
    errors[i] = caught([&] {
      sides[i] = open_side(i == 0 ? reference : candidate,
                           i == 0 ? Side::reference : Side::candidate, options);
    });
  });
  throw_any(errors);
  require_used(Side::both, {{sides[0], sides[1]}}, options);
  return sides;
}

std::vector<Run> open_all(const std::vector<std::string>& paths, std::size_t references,
                          const Options& options) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    runs.push_back(
        open_side(paths[i], i < references ? Side::reference : Side::candidate, options));
  }
  require_used(Side::both, std::vector<std::reference_wrapper<const Run>>(runs.begin(), runs.end()),
               options);
  return runs;
}

void read_files(Options& options) {
  for (SideFile& given : options.layouts) {
    given.layout = for_reason("bad-layout", [&] {
      return std::make_shared<const Layout>(
          parse_layout(formats::read_text(given.path), given.path));
    });
  }
  const std::string& path = options.limits_file;
  if (path.empty()) return;
  options.limits.file = for_reason("bad-limits", [&] {
    return std::make_shared<limits::LimitsFile>(
        limits::parse_limits(formats::read_text(path), path));
  });
}

}  // namespace ttcheck::cli
