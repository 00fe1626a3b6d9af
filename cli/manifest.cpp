// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/diff_options.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/open.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/diff/steps.hpp"
#include "core/manifest/list.hpp"
#include "core/manifest/verify.hpp"
#include "formats/own/manifest.hpp"
#include "reports/escape.hpp"

namespace ttcheck::cli {
namespace {

Verdict verify(const Options& options) {
  const Manifest expected = formats::read_manifest(options.verify);
  const Run run = open_side(options.words.at(0), Side::both, options);
  return manifest::verify(expected, options.verify, run, diff_options(options));
}

Verdict write(const Options& options) {
  const Run run = open_side(options.words.at(0), Side::both, options);
  diff::require_steps(std::array{diff::NamedRun{run, "run"}}, options.steps);
  std::string text;
  auto [verdict, head] = manifest::list(
      run, diff_options(options),
      [&](std::optional<std::int64_t> step, const Identity& identity, const ManifestEntry& entry) {
        text += formats::manifest_line(step, manifest_name(identity), entry);
      });
  if (interrupted() != 0) return verdict;
  text.insert(0, formats::manifest_head(head));
  if (options.write == "-") {
    write_stdout(text);
    return verdict;
  }
  write_output(options, options.write, text);
  if (options.verbose >= 0) {
    write_stderr(fmt::format("ttcheck: {}: hashes of {} tensors written\n",
                             reports::terminal_text(options.write), verdict.reference->tensors));
  }
  return verdict;
}

}  // namespace

Options manifest_options(Options options) {
  if (!options.verify.empty() && !options.write.empty()) {
    throw Usage("manifest: expected --write FILE or --verify FILE, not both");
  }
  if (!options.verify.empty()) return options;
  if (!options.maps.empty()) throw Usage("manifest: --map is of --verify");
  if (options.write.empty()) options.write = "-";
  options.screen = options.write != "-";
  if (!options.screen && std::ranges::count(options.outputs, "-", &OutputTarget::path) > 0) {
    throw Usage("manifest: stdout takes the manifest or a report: --write FILE");
  }
  return options;
}

Verdict manifest(const Options& options) {
  set_threads(options.threads);
  return options.verify.empty() ? write(options) : verify(options);
}

}  // namespace ttcheck::cli
