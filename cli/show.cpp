// SPDX-License-Identifier: Apache-2.0
#include "cli/show.hpp"

#include "cli/diff_options.hpp"
#include "cli/open.hpp"
#include "cli/show_name.hpp"
#include "cli/usage.hpp"
#include "core/base/parallel.hpp"
#include "core/show/show.hpp"

namespace ttcheck::cli {

Verdict show(const Options& options) {
  if (options.redact) throw Usage("--redact: show tells values");
  set_threads(options.threads);
  const WantedTensor tensor(options);
  const show::Wanted wanted{
      [&](const std::vector<std::string>& names) { return tensor.among(names); },
      [&](const Identity& identity) { return tensor.admits(identity); },
      [&](const std::vector<std::string>& names, const std::string& where) {
        return tensor.unknown(names, where);
      }};
  const std::string &reference = options.words.at(0), &candidate = options.words.at(2);
  if (candidate.empty()) {
    return show::one(open_side(reference, Side::both, options), options.steps, wanted, options.top);
  }
  diff::DiffOptions how = diff_options(options);
  const auto [left, right] = open_both(reference, candidate, options);
  return show::pair(left, right, wanted, options.top, how);
}

}  // namespace ttcheck::cli
