// SPDX-License-Identifier: Apache-2.0
// Directories as Hugging Face libraries write them: config.json beside one weight file, or shards
// with an index; a Trainer's or accelerate's checkpoint; a PEFT adapter.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/folder/json_facts.hpp"
#include "formats/folder/parts.hpp"
#include "formats/hf/config.hpp"
#include "formats/hf/deepspeed_folder.hpp"
#include "formats/hf/optimizer_folders.hpp"
#include "formats/hf/trainer_steps.hpp"
#include "formats/hf/training_state.hpp"
#include "formats/hf/weights.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMaxConfig = 64ULL << 20;
constexpr std::string_view kIndexEnd = ".index.json";

bool has(const Probe& probe, std::string_view name) {
  return std::binary_search(probe.names.begin(), probe.names.end(), name);
}

bool has_weights(const Probe& probe) {
  return std::any_of(probe.names.begin(), probe.names.end(), [](const std::string& name) {
    return is_weight_file(name) || is_weight_folder(name) || name.ends_with(kIndexEnd);
  });
}

/// A config.json or an index beside weights. Names only: what is in them is checked when opened.
Bid bid_model(const Probe& probe) {
  if (!probe.file.empty() || !has_weights(probe)) return Bid::none;
  const bool index = std::any_of(probe.names.begin(), probe.names.end(),
                                 [](const auto& name) { return name.ends_with(kIndexEnd); });
  return has(probe, "config.json") || index ? Bid::hf_weights : Bid::none;
}

Bid bid_trainer(const Probe& probe) {
  if (!probe.file.empty() || !has(probe, "trainer_state.json")) return Bid::none;
  const bool torn = has(probe, "optimizer.pt");  // whose weights are not there
  return torn || has_weights(probe) || has_engine_folder(probe) ? Bid::hf_trainer : Bid::none;
}

Bid bid_accelerate(const Probe& probe) {
  const bool state = has(probe, "random_states_0.pkl") || has(probe, "optimizer.bin") ||
                     std::ranges::any_of(probe.names, is_weight_folder);
  if (!probe.file.empty() || !state) return Bid::none;
  return has_weights(probe) || has_engine_folder(probe) ? Bid::accelerate : Bid::none;
}

Bid bid_peft(const Probe& probe) {
  return probe.file.empty() && has(probe, "adapter_config.json") && has_weights(probe)
             ? Bid::adapter
             : Bid::none;
}

/// Everything an opened directory needs to give its state again.
struct Model {
  std::string given;  ///< the directory, for messages
  WeightFiles weights;
  Parts parts;  ///< one per readable weight file or folder
  std::unique_ptr<OptimizerFolders> optimizers;
  std::unique_ptr<EngineFolder> engine;
  std::unique_ptr<TrainingState> training;
  std::vector<std::string> files;               ///< of each part
  std::map<std::int64_t, std::string> further;  ///< files of further models, by number
  std::vector<std::int64_t> numbers;            ///< of the model of each part
  std::vector<Fact> described;                  ///< by the JSON files beside the weights
  std::vector<Finding> findings;
  std::vector<NamedState> named;
  std::int64_t unreadable = 0;
  std::uint64_t unclaimed = 0;
};

/// Files by the tensors that are in them.
using Holders = std::map<std::string, std::set<std::string>, std::less<>>;

Holders holders_of(const Model& model, std::span<const State> parts) {
  Holders holders;
  if (!model.weights.index) return holders;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (model.numbers[i] != 0) continue;
    for (const Record& record : parts[i].records) {
      holders[record.identity.name].insert(model.files[i]);
    }
  }
  return holders;
}

/// Tensors of one shard against the index: those of another shard and those not listed. Loaders
/// take what a shard holds, so one that the index lists for a file without it is read.
void check_shard(const WeightIndex& index, const std::string& file, const Holders& holders,
                 State& part, std::set<std::string>& seen) {
  Findings findings;
  const auto stray = [&](const Record& record) {
    const auto listed = index.shard_of.find(record.identity.name);
    if (listed == index.shard_of.end()) {
      Finding finding = found(Code::unexpected,
                              fmt::format("{} does not list this tensor of {}", index.file, file),
                              record.piece.where(), record.identity.name);
      finding.severity = Severity::warning;
      findings.add(std::move(finding));
      return !seen.insert(record.identity.name).second;
    }
    const bool elsewhere = listed->second != file;
    if (elsewhere && !holders.at(record.identity.name).contains(listed->second)) {
      Finding finding = found(Code::omission,
                              fmt::format("{} lists this tensor for {}, where it is not: it is in "
                                          "{}",
                                          index.file, listed->second, file),
                              record.piece.where(), record.identity.name);
      finding.severity = Severity::warning;
      findings.add(std::move(finding));
      return !seen.insert(record.identity.name).second;
    }
    if (elsewhere) {
      findings.add(found(Code::overlap,
                         fmt::format("the tensor is in {} too, {} says it is in {}: that one is "
                                     "used",
                                     file, index.file, listed->second),
                         record.piece.where(), record.identity.name));
      return true;
    }
    seen.insert(record.identity.name);
    return false;
  };
  std::erase_if(part.records, stray);
  for (Finding& finding : findings.take()) part.findings.push_back(std::move(finding));
}

/// Tensors that the index lists for a file that was read, and that are not in it.
void find_absent(const Model& model, const std::set<std::string>& seen, State& whole) {
  if (!model.weights.index) return;
  const std::set<std::string_view> opened(model.files.begin(), model.files.end());
  std::set<std::string_view> told;
  for (const Finding& finding : whole.findings) told.insert(finding.tensor);
  Findings findings;
  for (const auto& [tensor, shard] : model.weights.index->shard_of) {
    if (!opened.contains(shard) || seen.contains(tensor) || told.contains(tensor)) continue;
    ++whole.unreadable;
    findings.add(found(Code::omission,
                       fmt::format("{} lists this tensor for {}, where it is not",
                                   model.weights.index->file, shard),
                       {model.given + "/" + shard, {}, {}}, tensor));
  }
  for (Finding& finding : findings.take()) whole.findings.push_back(std::move(finding));
}

/// What the weight files hold; `weights`: their records, by the number of their model.
State read_weights(Model& model, ModelWeights& weights) {
  State whole;
  whole.findings = model.findings;
  whole.unreadable = model.unreadable;
  whole.bytes_unclaimed = model.unclaimed;
  std::set<std::string> seen;
  std::vector<State> parts;
  for (std::size_t i = 0; i < model.parts.size(); ++i) parts.push_back(only_state(model.parts[i]));
  const Holders holders = holders_of(model, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    State& part = parts[i];
    const std::int64_t number = model.numbers[i];
    if (model.weights.index && number == 0) {
      check_shard(*model.weights.index, model.files[i], holders, part, seen);
    }
    std::ranges::copy(part.records, std::back_inserter(weights[number]));
    append(whole, std::move(part), model_prefix(number));
  }
  find_absent(model, seen, whole);
  return whole;
}

State read(Model& model) {
  ModelWeights weights;
  State whole = read_weights(model, weights);
  model.optimizers->add_to(whole);
  model.engine->add_to(whole);
  model.training->add_to(whole, weights);
  std::ranges::move(check_trainer_steps(whole, model.described, model.given),
                    std::back_inserter(whole.findings));
  return whole;
}

/// Descriptions and tokenizers: metadata, not payload.
bool is_description(std::string_view name) {
  for (const std::string_view end : {".json", ".txt", ".md", ".model", ".jinja", ".py", ".yaml"}) {
    if (name.ends_with(end)) return true;
  }
  return name.starts_with(".") || name == "LICENSE";
}

/// Opens a weight file of the model of that number.
void open_part(const Probe& probe, const OpenOptions& options, const std::string& file,
               std::int64_t number, Model& model) {
  try {
    model.parts.add(open_below(probe, file, options));
    model.files.push_back(file);
    model.numbers.push_back(number);
  } catch (const Error& error) {
    model.findings.push_back(unreadable(error));
    ++model.unreadable;
  }
}

/// That no weight file can be read, with what was said of the last.
Error none_read(const Finding& last, const Root& root) {
  return Error("none of its weight files can be read: " + last.message,
               last.where.value_or(Where{root.given(), {}, {}}));
}

void open_further(const Probe& probe, const OpenOptions& options, Model& model) {
  model.further = further_models(probe.names);
  std::int64_t next = 1;
  for (const auto& [number, file] : model.further) {
    if (number != next) {
      Finding finding =
          found(Code::omission, fmt::format("model {} is not there, {} is", next, file),
                {probe.root.given(), {}, {}});
      finding.incomplete = true;
      model.findings.push_back(std::move(finding));
    }
    next = number + 1;
    open_part(probe, options, file, number, model);
  }
}

void open_weights(const Probe& probe, const OpenOptions& options, Model& model) {
  model.weights = find_weights(probe.root, probe.names);
  model.findings = model.weights.findings;
  model.unreadable = model.weights.missing_tensors;
  for (const std::string& file : model.weights.files) open_part(probe, options, file, 0, model);
  if (model.files.empty() && !model.engine->found()) {
    if (!model.findings.empty()) throw none_read(model.findings.back(), probe.root);
    throw Error("no weight file was found", {probe.root.given(), {}, {}});
  }
}

void read_configs(const Probe& probe, Run& run) {
  for (const std::string_view name : {"config.json", "adapter_config.json", "trainer_state.json"}) {
    if (!has(probe, name)) continue;
    try {
      const JsonDocument document(probe.root.text(name, kMaxConfig),
                                  probe.root.file(name).where(0).file);
      const Json root = document.root();
      std::vector<Fact> facts = name == "config.json"           ? config_facts(root)
                                : name == "adapter_config.json" ? adapter_facts(root)
                                                                : note_facts(root, "trainer");
      run.facts.insert(run.facts.end(), facts.begin(), facts.end());
    } catch (const Error& error) {
      run.findings.push_back(unreadable(error));
    }
  }
}

/// The weights of these files alone, of a directory below `root`.
Run open_named_weights(const Root& root, int depth, const OpenOptions& options,
                       const WeightFiles& weights) {
  auto model = std::make_shared<Model>();
  model->given = root.given();
  model->weights = weights;
  model->findings = weights.findings;
  model->unreadable = weights.missing_tensors;
  const Probe probe{root, {}, {}, {}, depth};
  for (const std::string& file : weights.files) open_part(probe, options, file, 0, *model);
  if (model->files.empty()) throw none_read(model->findings.back(), root);
  Run run;
  run.path = root.given() + "/" + weights.files.front();
  run.format = "hf";
  run.steps = {std::nullopt};
  run.open = [model](std::size_t) {
    ModelWeights records;
    return read_weights(*model, records);
  };
  run.bytes_read = [&root] { return root.bytes_read(); };
  run.close = [model] { return model->parts.close(); };
  return run;
}

/// Models in the files beside the one that is read are states of their own.
void add_other_weights(const Probe& probe, const OpenOptions& options, Model& model) {
  for (auto& [name, weights] : other_weights(probe.root, probe.names, model.weights)) {
    if (std::ranges::find(model.named, name, &NamedState::name) != model.named.end()) continue;
    model.named.push_back(
        {name, [&root = probe.root, depth = probe.depth, options, files = std::move(weights)] {
           return open_named_weights(root, depth, options, files);
         }});
  }
}

/// What else lies in the directory: counted as unclaimed, and said where it is part of the state.
void account(const Probe& probe, const OpenOptions& options, Model& model) {
  std::set<std::string_view> told(model.weights.files.begin(), model.weights.files.end());
  told.insert(model.weights.ignored.begin(), model.weights.ignored.end());
  std::set<std::string_view> used(model.weights.files.begin(), model.weights.files.end());
  for (const auto& [number, file] : model.further) {
    told.insert(file);
    used.insert(file);
  }
  const Beside others = beside(probe, [&](const Entry& entry) {
    const bool file = entry.kind == EntryKind::file;
    return told.contains(entry.path) || is_description(entry.path) ||
           model.engine->holds(entry.path) ||
           (file ? is_training_state(entry.path) : is_optimizer_folder(entry.path));
  });
  model.unclaimed = others.rest_bytes;
  std::ranges::move(rest_beside(others, probe.root), std::back_inserter(model.findings));
  model.named = named_states(others);
  add_other_weights(probe, options, model);
  std::vector<std::string> training;
  for (const Entry& entry : probe.root.list()) {
    if (entry.kind != EntryKind::file || used.contains(entry.path)) continue;
    if (is_training_state(entry.path)) {
      training.push_back(entry.path);
    } else if (is_unlisted_shard(model.weights, entry.path)) {
      model.unclaimed = checked_add(model.unclaimed, entry.size);
    }
  }
  model.training = std::make_unique<TrainingState>(probe.root, std::move(training));
}

Run open_directory(const Probe& probe, const OpenOptions& options, std::string_view format) {
  auto model = std::make_shared<Model>();
  model->given = probe.root.given();
  model->engine = std::make_unique<EngineFolder>(probe, options);
  open_weights(probe, options, *model);
  if (format == kHfAccelerate.name) open_further(probe, options, *model);
  account(probe, options, *model);
  model->optimizers = std::make_unique<OptimizerFolders>(probe, options);
  Run run;
  run.format = format;
  run.steps = {std::nullopt};
  run.named = model->named;
  run.mesh = model->engine->mesh();
  if (probe.alone && model->weights.files.size() == 1) {  // the directory's path means its steps
    run.path = model->given + "/" + model->weights.files.front();
  }
  read_configs(probe, run);
  model->described = run.facts;
  for (const std::string& name : model->weights.ignored) {
    if (!is_unlisted_shard(model->weights, name)) continue;
    const Where where{probe.root.given() + "/" + name, {}, {}};
    run.findings.push_back(
        odd(where, "this shard is not in the index, and is not read", Code::overlap));
    run.findings.back().incomplete = true;
    run.facts.push_back({"weights.not_read", name, FactUse::note, where});
  }
  Model* raw = model.get();
  run.open = [raw](std::size_t) { return read(*raw); };
  const Root& root = probe.root;
  run.close = [raw, &root] {
    std::vector<Finding> findings = root.changed();
    std::ranges::move(raw->parts.close(), std::back_inserter(findings));
    std::ranges::move(raw->optimizers->close(), std::back_inserter(findings));
    std::ranges::move(raw->engine->close(), std::back_inserter(findings));
    return findings;
  };
  run.owner = model;
  return run;
}

}  // namespace

const Format kHf = {"hf", "Hugging Face directory: config.json or an index, safetensors or .bin",
                    bid_model, [](const Probe& probe, const OpenOptions& options) {
                      return open_directory(probe, options, "hf");
                    }};
const Format kHfTrainer = {"hf-trainer", "checkpoint-N of the Hugging Face Trainer", bid_trainer,
                           [](const Probe& probe, const OpenOptions& options) {
                             return open_directory(probe, options, "hf-trainer");
                           }};
const Format kHfAccelerate = {"hf-accelerate", "save_state folder of accelerate", bid_accelerate,
                              [](const Probe& probe, const OpenOptions& options) {
                                return open_directory(probe, options, "hf-accelerate");
                              }};
const Format kHfPeft = {"hf-peft", "PEFT adapter: adapter_config.json and its weights", bid_peft,
                        [](const Probe& probe, const OpenOptions& options) {
                          return open_directory(probe, options, "hf-peft");
                        }};

}  // namespace ttcheck::formats
