// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_options.hpp"

#include <algorithm>
#include <memory>

#include "cli/next_command.hpp"
#include "cli/open.hpp"
#include "cli/progress.hpp"
#include "core/base/for_reason.hpp"
#include "core/model/layout.hpp"
#include "core/show/parts.hpp"
#include "formats/bytes/read_text.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {
namespace {

/// How names are to meet, with the map files and the maps of layouts read.
align::AlignOptions align_options(const Options& options) {
  align::AlignOptions align;
  for (const std::string& path : options.maps) {
    const Layout file =
        for_reason("bad-map", [&] { return parse_layout(formats::read_text(path), path); });
    align.maps.insert(align.maps.end(), file.maps.begin(), file.maps.end());
    align.numbers.insert(file.model.begin(), file.model.end());
  }
  for (const SideFile& given : options.layouts) {
    align.maps.insert(align.maps.end(), given.layout->maps.begin(), given.layout->maps.end());
  }
  return align;
}

}  // namespace

diff::DiffOptions diff_options(const Options& options) {
  diff::DiffOptions how;
  how.align = align_options(options);
  how.names = {options.include, options.exclude};
  how.limits = options.limits;
  how.steps = options.steps;
  if (const auto& b = options.base; !b.empty()) {
    how.base = std::make_shared<Run>(open_side(b, Side::both, options));
  }
  if (const auto& path = options.known; !path.empty()) {
    how.known = for_reason("bad-known", [&] {
      return std::make_shared<verdict::KnownFile>(
          verdict::parse_known(formats::read_text(path), path));
    });
  }
  how.exact_sums = options.exact_sums;
  how.keep_equal = options.all;
  how.list_renames = options.show_map;
  how.recompute = true;
  how.hooks.pass = [options]() -> diff::OnBytes {
    return [progress = std::make_shared<Progress>(options)](
               std::uint64_t done, std::uint64_t total) { (*progress)(done, total); };
  };
  if (const auto timing = options.timing) {
    how.hooks.begins = [timing](std::string_view part) { timing->begin(part); };
  }
  how.hooks.next = [options](const TensorResult& result, const Run& reference,
                             const Run& candidate) {
    return look_closer(result, options, reference.path, candidate.path);
  };
  const bool drawn = std::ranges::any_of(
      options.outputs, [](const OutputTarget& target) { return target.report->draws; });
  if (drawn) {
    how.hooks.inside = [](const compare::Pair& pair, const Metrics& metrics,
                          const Numbers& numbers) {
      return show::profile_to_show(pair, metrics, numbers, 0);
    };
  }
  return how;
}

}  // namespace ttcheck::cli
