#include "cli/side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/read_text.hpp"
#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/formats.hpp"

namespace ttcheck::cli {

Run open_side(const std::string& path, Side side, const Options& options) {
  formats::OpenOptions open;
  open.follow_links = options.follow_links;
  for (const SideFile& layout : options.layouts) {
    if (layout.side != Side::both && layout.side != side) continue;
    open.layouts.push_back(parse_layout(read_text(layout.path), layout.path));
  }
  Result<Run> run = formats::open(path, open);
  if (!run) throw run.error();
  return std::move(*run);
}

std::array<Run, 2> open_both(const Options& options) {
  std::array<Run, 2> sides;
  parallel_for(sides.size(), [&](std::size_t i) {
    sides[i] = open_side(options.words.at(i), i == 0 ? Side::reference : Side::candidate, options);
  });
  return sides;
}

align::AlignOptions align_options(const Options& options) {
  align::AlignOptions align{options.include, options.exclude, {}, {}, {}, {}};
  for (const std::string& path : options.maps) {
    const Layout file = parse_layout(read_text(path), path);
    align.maps.insert(align.maps.end(), file.maps.begin(), file.maps.end());
    align.numbers.insert(file.model.begin(), file.model.end());
  }
  return align;
}

void read_limits(Options& options) {
  const std::string& path = options.limits_file;
  if (path.empty()) return;
  options.limits.file =
      std::make_shared<limits::LimitsFile>(limits::parse_limits(read_text(path), path));
}

Numbers numbers_of(const std::vector<Fact>& facts) {
  constexpr std::string_view kModel = "model.";
  Numbers numbers;
  for (const Fact& fact : facts) {
    const auto* value = std::get_if<std::int64_t>(&fact.value);
    if (value != nullptr && !fact.assumed && fact.name.starts_with(kModel)) {
      numbers.emplace(fact.name.substr(kModel.size()), *value);
    }
  }
  return numbers;
}

void append(std::vector<Finding>& all, std::vector<Finding> some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

RunSummary summary_of(const Run& run) {
  RunSummary summary;
  summary.path = run.path;
  summary.format = run.format;
  summary.mesh = run.mesh;
  std::erase_if(summary.mesh.axes, [](const Axis& axis) { return axis.size <= 1; });
  std::erase_if(summary.mesh.expert_axes, [](const Axis& axis) { return axis.size <= 1; });
  for (const auto& step : run.steps) {
    if (step) summary.steps.push_back(*step);
  }
  return summary;
}

std::uint64_t logical_bytes(const Tensor& tensor) {
  try {
    return byte_size(tensor.dtype, element_count(tensor.shape));
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace ttcheck::cli
