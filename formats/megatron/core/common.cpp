// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/core/common.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kOptions = "optimizer.param_groups.";

}  // namespace

void MegatronCommon::add(const TorchFile& file, Value value, State& state) {
  add_findings(file, state);
  read_args(value, state);
  WalkBudget budget(file.pickle());
  Leaves leaves;
  add_leaves(value, "", true, budget, leaves);
  for (Leaf& leaf : leaves.others) {
    const std::size_t at = leaf.path.find(kOptions);
    if (leaf.path.starts_with("optimizer.") && at != std::string::npos) {
      leaf.path = "optimizer.groups." + leaf.path.substr(at + kOptions.size());
    }
    state.facts.push_back(fact_of(leaf));
  }
  HashBudget hashes(file);
  for (const Leaf& leaf : leaves.tensors) {  // the scale of fp16's gradients
    try {
      state.facts.push_back(fact_of_tensor(file, leaf, hashes));
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(leaf.value.where()), leaf.path));
    }
  }
  if (!leaves.cut) return;
  Finding finding = damaged(value.where(),
                            "values of the common state are shared so often that not "
                            "all of them were read");
  finding.severity = Severity::warning;
  state.findings.push_back(std::move(finding));
}

void MegatronCommon::read_args(Value value, State& state) {
  for (const auto& [key, stated] : mapping(value).value_or(std::vector<KeyValue>())) {
    if (key.text() != "args" || args.where) continue;
    try {
      args = read_megatron_args(stated);
      if (!args.contradiction.empty()) {
        state.findings.push_back(found(Code::shape_or_dtype, args.contradiction, stated.where()));
      }
      mesh = megatron_mesh(args);
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(stated.where()), "args"));
    }
  }
}

void add_object(const std::string& name, const Source& bytes, State& state) {
  Stream in(bytes);
  state.facts.push_back(
      {name, fmt::format("{} bytes, xxh3 {:016x}", bytes.size(), in.hash(bytes.size(), "bytes")),
       FactUse::opaque, bytes.where(0)});
}

void add_findings(const TorchFile& file, State& state) {
  for (const Finding& finding : file.findings()) {
    if (finding.severity != Severity::note) state.findings.push_back(finding);
  }
}

}  // namespace ttcheck::formats
