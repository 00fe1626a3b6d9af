// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which entries of a directory are steps, by their names side by side. The names that frameworks
// give tell by themselves (steps.hpp). Where there are none of these, a number behind a word of
// time does (`epoch=3-val_loss=0.2.ckpt`, `checkpoint-epoch3.pth`, `latest_net_iter_200.pt`); where
// there is no such word either, the only number that changes from one name to the next
// (`model_100.pt`, `100.pt`), unless the word before it counts places (`layer_3.pt`, `rank0`).
// Several names that change together (`netG_100.pth` beside `netD_100.pth`) are parts of one step.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/name_map.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

/// One entry of a step.
struct StepEntry {
  std::string path;
  std::string part;  ///< what its name says beside the step, where a step has several entries
};

struct SeriesNames {
  std::map<std::int64_t, std::vector<StepEntry>> steps;  ///< several may claim the same
  bool by_change = false;  ///< nothing but a number that changes tells that these are steps
  std::string form;        ///< then, of names that are alike but for it: `model_#.pt`; else empty
  NameSet paths;           ///< of all entries of the steps

  bool holds(std::string_view path) const { return paths.contains(path); }
};

SeriesNames series_names(const std::vector<Entry>& entries);

/// The step that a name states by itself: by a framework's name, but for a plain number, or by a
/// word of time.
std::optional<std::int64_t> step_stated_by(std::string_view name, bool directory);

/// The only number of a name, and the form that it leaves: a step, if a series has that form. A `#`
/// of the name's own is a `/` there.
std::optional<std::pair<std::string, std::int64_t>> step_in_form(std::string_view name,
                                                                 bool directory);

}  // namespace ttcheck::formats
