#include "cli/bisect.hpp"

#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "cli/bisect_ops.hpp"
#include "cli/bisect_steps.hpp"
#include "cli/diff.hpp"
#include "cli/side.hpp"
#include "cli/usage.hpp"
#include "core/base/parallel.hpp"

namespace ttcheck::cli {
namespace {

/// Bytes of the regular files at a path and below it; links are not followed.
std::uint64_t bytes_below(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return fs::file_size(path, ignored);
  std::uint64_t bytes = 0;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, skip, ignored), end; at != end;
       at.increment(ignored)) {
    if (!at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (size != static_cast<std::uintmax_t>(-1)) bytes += size;
  }
  return bytes;
}

bool over_ops(const BisectInput& input) {
  if (input.options.over != Over::automatic) return input.options.over == Over::ops;
  return input.reference.trace && input.candidate.trace && input.pairs.size() == 1 &&
         input.options.run.empty();
}

/// The manifests of each side that were named, joined.
std::array<std::optional<Manifest>, 2> manifests_of(const Options& options) {
  std::array<std::optional<Manifest>, 2> sides;
  for (const SideFile& file : options.manifests) {
    Manifest read = read_manifest(file.path);
    auto& side = sides.at(file.side == Side::reference ? 0 : 1);
    if (!side) side.emplace();
    side->merge(read);
  }
  return sides;
}

}  // namespace

Verdict bisect(const Options& options) {
  set_threads(options.threads);
  const align::AlignOptions align = align_options(options);
  const std::array<Run, 2> sides = open_both(options);
  const auto& [reference, candidate] = sides;
  Verdict head = head_of(reference, candidate, options);
  append(head.findings, reference.findings);
  append(head.findings, candidate.findings);
  const auto manifests = manifests_of(options);
  BisectInput input{
      reference, candidate, options, align, pair_steps(reference, candidate, options, head), {}};
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i]) input.manifests[i] = &*manifests[i];
  }

  const bool ops = over_ops(input);
  const bool others = options.predicate != Predicate::diverged || !options.run.empty();
  if (!options.manifests.empty() && (ops || others)) {
    throw Usage("--manifest: hashes tell only, over steps, which have diverged");
  }
  Verdict verdict = ops ? bisect_ops(input) : bisect_steps(input);
  verdict.findings.insert(verdict.findings.begin(), std::make_move_iterator(head.findings.begin()),
                          std::make_move_iterator(head.findings.end()));
  verdict.coverage.steps_only_reference = head.coverage.steps_only_reference;
  verdict.coverage.steps_only_candidate = head.coverage.steps_only_candidate;
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  for (const Finding& finding : verdict.findings) {
    if (finding.incomplete) verdict.complete = false;
  }
  verdict.search->bytes_read = verdict.coverage.bytes_read =
      reference.bytes_read() + candidate.bytes_read();
  if (!ops) {
    verdict.search->bytes_total =
        bytes_below(options.words.at(0)) + bytes_below(options.words.at(1));
  }
  return verdict;
}

}  // namespace ttcheck::cli
