// SPDX-License-Identifier: Apache-2.0
#include "core/manifest/as_run.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "core/model/dtype.hpp"
#include "core/model/kind.hpp"
#include "core/model/record.hpp"

namespace ttcheck::manifest {
namespace {

Finding unknown_dtype(const std::string& tensor, const ManifestEntry& entry,
                      std::optional<std::int64_t> step) {
  Finding finding;
  finding.code = Code::unreadable;
  finding.severity = Severity::warning;
  finding.incomplete = true;
  finding.step = step;
  finding.tensor = tensor;
  finding.message =
      fmt::format("the manifest has it as {}, a dtype that is not known", entry.dtype);
  return finding;
}

Fact stated(std::string name, FactValue value) {
  Fact fact;
  fact.name = std::move(name);
  fact.value = std::move(value);
  return fact;
}

State state_of(const Manifest& manifest, std::optional<std::int64_t> step) {
  State state;
  state.step = step;
  for (auto line = manifest.entries.lower_bound({step, ""});
       line != manifest.entries.end() && line->first.first == step; ++line) {
    const ManifestEntry& entry = line->second;
    const auto dtype = dtype_named(entry.dtype);
    Record record;
    record.identity = identity_of(line->first.second);
    if (!dtype) {
      state.findings.push_back(unknown_dtype(record.identity.name, entry, step));
      ++state.unreadable;
      continue;
    }
    record.kind = kind_of_name(record.identity.name);
    record.dtype = *dtype;
    record.shape = entry.shape;
    record.stored = false;
    TraceRecord known;
    known.hash = entry.hash;
    record.trace = std::make_shared<const TraceRecord>(std::move(known));
    state.records.push_back(std::move(record));
  }
  return state;
}

}  // namespace

Run as_run(const Manifest& manifest, const std::string& path) {
  Run run;
  run.path = path;
  run.format = manifest.head.format.empty() ? "manifest" : manifest.head.format;
  for (const auto& [name, value] : manifest.head.model) {
    run.facts.push_back(stated("model." + name, value));
  }
  if (manifest.head.tied_embeddings) run.facts.push_back(stated("model.tied_embeddings", true));
  for (const auto& [key, entry] : manifest.entries) {
    const auto& [step, name] = key;
    if (run.steps.empty() || run.steps.back() != step) run.steps.push_back(step);
    run.trace = run.trace || identity_of(name).phase != Phase::none;
  }
  if (run.steps.empty()) run.steps.emplace_back();
  run.open = [&manifest, steps = run.steps](std::size_t i) {
    return state_of(manifest, steps.at(i));
  };
  run.bytes_read = [] { return std::uint64_t{0}; };
  run.close = [] { return std::vector<Finding>(); };
  return run;
}

}  // namespace ttcheck::manifest
