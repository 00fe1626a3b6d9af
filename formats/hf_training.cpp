#include "formats/hf_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/compose.hpp"
#include "formats/hf_order.hpp"
#include "formats/rank_facts.hpp"
#include "formats/steps.hpp"
#include "formats/torch_state.hpp"

namespace ttcheck::formats {
namespace {

/// Files by the start of their names, and what their facts are called.
struct Part {
  std::string_view start;
  std::string_view prefix;
};

constexpr Part kParts[] = {{"optimizer", "optimizer"},    {"scheduler", "scheduler"},
                           {"rng_state", "rng"},          {"random_states_", "rng"},
                           {"scaler.pt", "scaler"},       {"sampler", "sampler"},
                           {"training_args.bin", "args"}, {"custom_checkpoint_", "custom"}};

const Part* part_of(std::string_view name) {
  const bool torch =
      std::ranges::any_of(std::initializer_list<std::string_view>{".pt", ".pth", ".bin", ".pkl"},
                          [&](std::string_view end) { return name.ends_with(end); });
  const auto part =
      std::ranges::find_if(kParts, [&](const Part& one) { return name.starts_with(one.start); });
  return torch && part != std::end(kParts) ? &*part : nullptr;
}

/// The weights as candidates, in the order in which optimizers count them. None when that is not
/// known: then numbers stay numbers.
std::vector<Candidate> parameters_of(const std::vector<Record>& weights, Where where,
                                     std::vector<Finding>& findings) {
  std::vector<Candidate> parameters;
  for (const Record& record : weights) {
    if (record.kind == Kind::weight && !is_exact(record.dtype))
      parameters.push_back({record.identity.name, record.logical.value_or(record.shape)});
  }
  const bool sorted = std::ranges::is_sorted(parameters, {}, &Candidate::name);
  if (!sorted || parameters.size() < 2) return parameters;
  if (sort_as_defined(parameters)) return parameters;
  findings.push_back(odd(std::move(where),
                         "the weights are sorted by name and the order of this model's parameters "
                         "is not known, so the optimizer's numbers are given no names",
                         Code::name_mapping));
  return {};
}

}  // namespace

bool is_training_state(std::string_view name) { return part_of(name) != nullptr; }

const TorchFile& TrainingState::opened(const std::string& name) {
  const auto known = opened_.find(name);
  if (known != opened_.end()) return *known->second;
  auto file = std::make_unique<const TorchFile>(read_torch(root_->file(name)));
  return *opened_.emplace(name, std::move(file)).first->second;
}

void TrainingState::add_file(const std::string& name, const std::vector<Record>& weights,
                             State& state) {
  const Part& part = *part_of(name);
  const TorchFile& file = opened(name);
  TorchPart role;
  const bool optimizer = part.prefix == "optimizer";
  if (optimizer) {
    role.role = TorchPart::Role::optimizer;
    role.parameters = parameters_of(weights, file.root().where(), state.findings);
  } else {
    role.role = TorchPart::Role::extra;
  }
  State read = torch_state(file, role);
  if (part.prefix == "args") {
    for (Fact& fact : read.facts) fact.use = FactUse::note;
  }
  append(state, std::move(read), optimizer ? std::string() : std::string(part.prefix));
}

void TrainingState::add_to(State& state) {
  const std::vector<Record> weights = state.records;
  std::map<std::string_view, RankFacts> by_prefix;
  for (const std::string& name : files_) {
    try {
      State own;
      add_file(name, weights, own);
      const std::string stem = name.substr(0, name.find('.'));
      const auto rank = checked_cast<std::int32_t>(
          std::min<std::int64_t>(trailing_number(stem).value_or(0), kMaxRanksListed));
      by_prefix[part_of(name)->prefix].take(std::exchange(own.facts, {}), rank, state.facts);
      append(state, std::move(own));
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at({root_->given() + "/" + name, {}, {}})));
      ++state.unreadable;
    }
  }
}

}  // namespace ttcheck::formats
