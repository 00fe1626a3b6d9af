// SPDX-License-Identifier: Apache-2.0
// The hard part is to name the optimizer's state, which torch keeps by the numbers of parameters.
// They count in the order in which the model defines them, so the weights become candidates in
// that order: the order of the file, or where that is sorted by name the order that the model's
// family has. Where the family is not known, the numbers stay and a finding says so.
// A file is known by how its name starts. The number at the end is a rank for generators, and
// tells several of any other kind apart. Each file is read into a state of its own, so that one
// that cannot be read adds a finding and no half of its state.
// Missing files are told from the others: a file of a Trainer or of accelerate shows which others
// were written with it, and a number shows those below it. What a script saved under such names
// shows nothing but gaps. Numbers of 2^20 and more are not taken as such, which bounds the gaps.

#include "formats/hf/training_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/parts.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/hf/optimizer_folders.hpp"
#include "formats/hf/parameter_order.hpp"
#include "formats/hf/weights.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

/// Files by the start of their names, and what their facts are called.
struct Part {
  std::string_view start;
  std::string_view prefix;
};

constexpr Part kParts[] = {
    {"optimizer", "optimizer"},    {"scheduler", "scheduler"},       {"rng_state", "rng"},
    {"random_states_", "rng"},     {"scaler.pt", "scaler"},          {"sampler", "sampler"},
    {"training_args.bin", "args"}, {"custom_checkpoint_", "custom"}, {"dl_state_dict", "data"}};

constexpr std::int64_t kMostNumber = 1 << 20;  ///< of one of several files

constexpr std::string_view kOptimizer = "optimizer";
constexpr std::string_view kGenerators = "rng";
constexpr std::string_view kCustom = "custom";  ///< objects that a script registered

/// Folders that hold the optimizer where DeepSpeed or Megatron writes it.
constexpr std::array<std::string_view, 3> kElsewhere = {"global_step", "pytorch_model",
                                                        "optimizer"};

const Part* part_of(std::string_view name) {
  const bool torch =
      std::ranges::any_of(std::initializer_list<std::string_view>{".pt", ".pth", ".bin", ".pkl"},
                          [&](std::string_view end) { return name.ends_with(end); });
  const auto part =
      std::ranges::find_if(kParts, [&](const Part& one) { return name.starts_with(one.start); });
  return torch && part != std::end(kParts) ? &*part : nullptr;
}

/// N of `optimizer_N` and the like, in front of the extension; the first of several has none, or 0.
/// Other names that end with a number are a script's own: `optimizer_epoch10.pt`.
std::int64_t number_of(std::string_view name) {
  const std::string_view start = part_of(name)->start;
  std::string_view rest = name.substr(0, name.find('.'));
  if (!rest.starts_with(start)) return 0;
  rest.remove_prefix(start.size());
  if (!start.ends_with('_')) {
    if (!rest.starts_with('_')) return 0;
    rest.remove_prefix(1);
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::int64_t number =
      std::ranges::all_of(rest, digit) ? trailing_number(rest).value_or(0) : 0;
  return number < kMostNumber ? number : 0;
}

/// What the facts of a file are called: of further optimizers, schedulers and the like with their
/// number; of generators the number is that of a rank.
std::string prefix_of(const Part& part, std::int64_t number) {
  const bool further = number > 0 && part.prefix != kGenerators;
  return further ? fmt::format("{}_{}", part.prefix, number) : std::string(part.prefix);
}

/// The name of the file that is `number`th where `sibling` is one of them.
std::string numbered_name(std::string_view sibling, std::int64_t number) {
  const std::size_t dot = std::min(sibling.find('.'), sibling.size());
  std::string_view stem = sibling.substr(0, dot);
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  if (stem.ends_with('_')) stem.remove_suffix(1);
  const bool counts_from_one = part_of(sibling)->start == stem && !stem.starts_with(kGenerators);
  if (number == 0 && counts_from_one) return fmt::format("{}{}", stem, sibling.substr(dot));
  return fmt::format("{}_{}{}", stem, number, sibling.substr(dot));
}

/// Gives what torch_state calls the optimizer the name of a further one.
void rename_optimizer(State& state, const std::string& prefix) {
  const auto rename = [&](std::string& name) {
    const bool own = name.starts_with(kOptimizer) && name.substr(kOptimizer.size(), 1) == ".";
    if (own) name.replace(0, kOptimizer.size(), prefix);
  };
  for (Record& record : state.records) rename(record.identity.name);
  for (Fact& fact : state.facts) rename(fact.name);
  for (Finding& finding : state.findings) rename(finding.tensor);
}

/// Optimizer state that the file keeps by the names of that model's weights, as FSDP's ranks gather
/// it, gets the model's name in front, as the weights have it.
void name_model(State& state, std::int64_t number, const std::vector<Record>& weights) {
  std::set<std::string_view> names;
  for (const Record& record : weights) names.insert(record.identity.name);
  for (Record& record : state.records) {
    std::string& name = record.identity.name;
    if (names.contains(std::string_view(name).substr(0, name.rfind('@')))) {
      name = fmt::format("{}.{}", model_prefix(number), name);
    }
  }
}

/// The weights as candidates, in the order in which optimizers count them. None when that is not
/// known: then numbers stay numbers.
std::optional<std::vector<Candidate>> candidates_of(const std::vector<Record>& weights) {
  std::vector<Candidate> parameters;
  for (const Record& record : weights) {
    if (record.kind == Kind::weight && !is_exact(record.dtype))
      parameters.push_back({record.identity.name, record.logical.value_or(record.shape)});
  }
  const bool sorted = std::ranges::is_sorted(parameters, {}, &Candidate::name);
  if (sorted && parameters.size() > 1 && !sort_as_defined(parameters)) return std::nullopt;
  return parameters;
}

/// Those of several models, one behind the other; of an unknown order a finding and none.
std::vector<Candidate> parameters_of(const std::vector<std::int64_t>& models,
                                     const ModelWeights& weights, Where where,
                                     std::vector<Finding>& findings) {
  std::vector<Candidate> parameters;
  for (const std::int64_t number : models) {
    auto own = candidates_of(weights.at(number));
    if (!own) {
      findings.push_back(odd(std::move(where),
                             "the weights are sorted by name and the order of this model's "
                             "parameters is not known, so the optimizer's numbers are given no "
                             "names",
                             Code::name_mapping));
      return {};
    }
    for (Candidate& parameter : *own) {
      if (number > 0) parameter.name = model_prefix(number) + "." + parameter.name;
      parameters.push_back(std::move(parameter));
    }
  }
  return parameters;
}

}  // namespace

bool is_training_state(std::string_view name) { return part_of(name) != nullptr; }

const TorchFile& TrainingState::opened(const std::string& name) {
  const auto known = opened_.find(name);
  if (known != opened_.end()) return *known->second;
  auto file = std::make_unique<const TorchFile>(read_torch(root_->file(name)));
  return *opened_.emplace(name, std::move(file)).first->second;
}

/// The models whose parameters the optimizer of that number holds. Nothing says so: as many
/// optimizers as models are one for each, a single one is for all.
std::vector<std::int64_t> TrainingState::models_of(std::int64_t number,
                                                   const ModelWeights& weights) const {
  const auto optimizers = std::ranges::count_if(
      files_, [](const std::string& name) { return part_of(name)->prefix == kOptimizer; });
  std::vector<std::int64_t> models;
  for (const auto& [of, records] : weights) {
    const bool each = optimizers == std::ssize(weights) && of == number;
    if (each || optimizers == 1 || (weights.size() == 1 && number == 0)) models.push_back(of);
  }
  return models;
}

void TrainingState::add_file(const std::string& name, const ModelWeights& weights, State& state) {
  const Part& part = *part_of(name);
  const TorchFile& file = opened(name);
  const std::int64_t number = number_of(name);
  const std::string prefix = prefix_of(part, number);
  TorchPart role;
  const bool optimizer = part.prefix == kOptimizer;
  if (!optimizer) {
    if (part.prefix != kCustom) role.role = TorchPart::Role::extra;
  } else {
    role.role = TorchPart::Role::optimizer;
    const std::vector<std::int64_t> models = models_of(number, weights);
    role.parameters = parameters_of(models, weights, file.root().where(), state.findings);
    if (models.empty()) {
      state.findings.push_back(
          remark(file.root().where(),
                 "which parameters this optimizer counts is not known: its numbers get no names",
                 Code::name_mapping));
    }
  }
  State read = torch_state(file, role);
  for (Fact& fact : read.facts) {
    if (part.prefix == "args") fact.use = FactUse::note;
    if (part.prefix == kGenerators) fact.use = FactUse::opaque;
  }
  if (optimizer && number > 0) {
    rename_optimizer(read, prefix);
    if (weights.contains(number)) name_model(read, number, weights.at(number));
  }
  append(state, std::move(read), optimizer ? std::string() : prefix);
}

const std::string* TrainingState::file_of(std::string_view prefix) const {
  const auto file = std::ranges::find_if(
      files_, [&](const std::string& name) { return part_of(name)->prefix == prefix; });
  return file == files_.end() ? nullptr : &*file;
}

bool TrainingState::has_folder(bool (*is_one)(std::string_view)) const {
  return std::ranges::any_of(root_->list(), [&](const Entry& entry) {
    return entry.kind == EntryKind::directory && is_one(entry.path);
  });
}

Finding TrainingState::missing(const std::string& name, std::string_view witness) const {
  Finding finding = found(
      Code::omission, fmt::format("{} is not there, what wrote {} writes it too", name, witness),
      {root_->given() + "/" + name, {}, {}});
  finding.incomplete = true;
  return finding;
}

/// A Trainer writes optimizer, scheduler and generators together or, told to save the model only,
/// none of them (transformers/trainer.py, _save_checkpoint). Generators are what save_state of
/// accelerate always writes; a scheduler there is always an optimizer's.
void TrainingState::find_missing(State& state) const {
  const std::string* const optimizer = file_of(kOptimizer);
  const std::string* const scheduler = file_of("scheduler");
  const std::string* const generators = file_of(kGenerators);
  const std::string* const witness = scheduler != nullptr   ? scheduler
                                     : optimizer != nullptr ? optimizer
                                                            : generators;
  if (witness == nullptr) return;
  const bool trainer = root_->entry("trainer_state.json").has_value();
  const bool accelerate = std::ranges::any_of(files_, [](const std::string& name) {
    return name == "optimizer.bin" || name == "scheduler.bin" || name.starts_with("random_states_");
  });
  if (!trainer && !accelerate) return;  // a script's own files
  const bool folders = has_folder(is_weight_folder);
  const bool elsewhere = has_folder([](std::string_view name) {
    return !is_weight_folder(name) && !is_optimizer_folder(name) &&
           std::ranges::any_of(kElsewhere, [&](auto start) { return name.starts_with(start); });
  });
  const bool optimized = !elsewhere && (trainer || scheduler != nullptr);
  const auto miss = [&](const std::string& name) {
    state.findings.push_back(missing(name, *witness));
  };
  if (optimized && optimizer == nullptr && !has_folder(is_optimizer_folder)) {
    miss(folders ? "optimizer_0" : trainer ? "optimizer.pt" : "optimizer.bin");
  }
  if (!elsewhere && trainer && scheduler == nullptr) miss("scheduler.pt");
  if (generators == nullptr) miss(trainer ? "rng_state.pth" : "random_states_0.pkl");
}

/// Numbers that are left out below the highest.
void TrainingState::find_gaps(State& state) const {
  std::map<std::string_view, std::map<std::int64_t, std::string_view>> groups;
  for (const std::string& name : files_) groups[part_of(name)->start][number_of(name)] = name;
  Findings gaps;
  for (const auto& [start, files] : groups) {
    std::int64_t next = 0;
    for (const auto& [number, sibling] : files) {
      for (; next < number; ++next) {
        Finding gap = missing(numbered_name(sibling, next), sibling);
        if (part_of(sibling)->prefix == kGenerators) {
          gap.code = Code::missing_rank;
          gap.ranks = {checked_cast<std::int32_t>(next)};
        }
        gaps.add(std::move(gap));
      }
      next = number + 1;
    }
  }
  for (Finding& gap : gaps.take()) state.findings.push_back(std::move(gap));
}

void TrainingState::add_to(State& state, const ModelWeights& weights) {
  std::map<std::string, RankFacts> by_prefix;
  for (const std::string& name : files_) {
    try {
      State own;
      add_file(name, weights, own);
      const std::int64_t number = number_of(name);
      const auto rank = checked_cast<std::int32_t>(std::min<std::int64_t>(number, kMaxRanksListed));
      by_prefix[prefix_of(*part_of(name), number)].take(std::exchange(own.facts, {}), rank,
                                                        state.facts);
      append(state, std::move(own));
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at({root_->given() + "/" + name, {}, {}})));
      ++state.unreadable;
    }
  }
  find_missing(state);
  find_gaps(state);
}

}  // namespace ttcheck::formats
