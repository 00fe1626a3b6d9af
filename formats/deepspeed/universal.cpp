// SPDX-License-Identifier: Apache-2.0
// deepspeed-universal: a tag directory that ds_to_universal made (deepspeed/checkpoint/
// ds_to_universal.py). `zero/<parameter>/` holds fp32.pt, exp_avg.pt, exp_avg_sq.pt and step.pt,
// each a dict with the whole tensor as `param`; made from ZeRO 3 each is a flat tensor, whose shape
// is in the model_states files beside it. `zero/optimizer_state.pt` has the options; the flat
// groups in it are one rank's leftovers.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/facts.hpp"
#include "formats/deepspeed/open_tag.hpp"
#include "formats/deepspeed/optim_states.hpp"
#include "formats/deepspeed/state.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kZero = "zero";
constexpr std::string_view kOptions = "zero/optimizer_state.pt";
constexpr std::string_view kEnd = ".pt";
constexpr std::array<std::string_view, 4> kStates = {"fp32", "exp_avg", "exp_avg_sq", "step"};

/// One file of a parameter's folder.
struct ParameterFile {
  std::string path, parameter, suffix;
  std::unique_ptr<TorchFile> torch;
};

struct Universal {
  std::shared_ptr<const DeepspeedTag> tag;
  std::vector<ParameterFile> files;
  std::unique_ptr<TorchFile> options;
  std::map<std::string, Shape> shapes;  ///< whole ones, by param_shapes
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;
  std::uint64_t unclaimed = 0;
};

/// Names only: the folder of parameters beside model_states files, or with the optimizer's options.
Bid bid_deepspeed_universal(const Probe& probe) {
  if (!probe.file.empty() || !std::ranges::binary_search(probe.names, kZero)) return Bid::none;
  const bool any = std::ranges::any_of(probe.names, [](const std::string& name) {
    const auto file = parse_deepspeed_name(name);
    return file && file->kind == DeepspeedKind::model;
  });
  try {
    const auto zero = probe.root.entry(kZero);
    if (!zero || zero->kind != EntryKind::directory) return Bid::none;
    return any || probe.root.entry(kOptions) ? Bid::deepspeed_universal : Bid::none;
  } catch (const Error&) {
    return Bid::none;
  }
}

class Opener {
 public:
  Opener(const Probe& probe, Universal& out) : root_(probe.root), out_(out) {}

  void open() {
    state_shapes();
    for (const Entry& entry : root_.list(kZero)) {
      if (entry.kind == EntryKind::directory) {
        open_folder(entry.path);
      } else if (entry.path == kOptions) {
        out_.options = torch(entry.path);
      } else {
        pass_over(entry);
      }
    }
    if (!out_.options) {
      Finding finding = odd({root_.given() + "/" + std::string(kOptions), {}, {}},
                            "the optimizer's options are not there");
      out_.findings.push_back(std::move(finding));
    }
    find_missing();
  }

 private:
  /// The whole of each parameter by the parts that the tensor-parallel ranks of its stage state.
  void state_shapes() {
    const std::int64_t ranks = out_.tag->ranks.tp;
    std::map<std::string, std::map<std::int64_t, Shape>> parts;  // by rank
    std::map<std::string, std::int64_t> stages;
    for (const auto& [mp, known] : out_.tag->parameters) {
      for (auto& [name, shape] : known.shapes()) {
        const std::int64_t stage = stages.try_emplace(name, mp / ranks).first->second;
        if (stage == mp / ranks) parts[name].emplace(mp % ranks, std::move(shape));
      }
    }
    for (const auto& [name, by_rank] : parts) {
      if (auto whole = whole_of(name, by_rank)) out_.shapes.emplace(name, *std::move(whole));
    }
  }

  std::optional<Shape> whole_of(const std::string& name,
                                const std::map<std::int64_t, Shape>& by_rank) {
    const std::int64_t ranks = out_.tag->ranks.tp;
    std::optional<Shape> whole;
    Shape sums;  // of all parts, along each dimension
    bool differ = false;
    for (const auto& [rank, shape] : by_rank) {
      const auto blocks = blocks_of(name, shape, {out_.tag->rules, rank, ranks});
      if (blocks.empty()) continue;
      if (!whole) whole = blocks[0].logical;
      differ = differ || blocks[0].logical != *whole;
      sums.resize(std::max(sums.size(), shape.size()), 0);
      for (std::size_t d = 0; d < shape.size(); ++d) sums[d] = checked_add(sums[d], shape[d]);
    }
    if (!differ) return whole;
    // Parts of several heights: cut along one dimension they add up, else they contradict.
    const Shape& first = by_rank.begin()->second;
    std::vector<std::size_t> cut;
    for (std::size_t d = 0; d < first.size() && whole->size() == first.size(); ++d) {
      if ((*whole)[d] != first[d]) cut.push_back(d);
    }
    const bool alike = cut.size() == 1 && std::ranges::all_of(by_rank, [&](const auto& part) {
                         Shape other = part.second;
                         if (other.size() != first.size()) return false;
                         other[cut[0]] = first[cut[0]];
                         return other == first;
                       });
    if (alike && std::ssize(by_rank) == ranks) {
      (*whole)[cut[0]] = sums[cut[0]];
      return whole;
    }
    out_.findings.push_back(found(Code::shape_or_dtype,
                                  "the shapes that param_shapes of the ranks state for their parts "
                                  "are not of one tensor",
                                  {root_.given(), {}, {}}, name));
    return std::nullopt;
  }

  void open_folder(const std::string& folder) {
    const std::string parameter = folder.substr(kZero.size() + 1);
    for (const Entry& entry : root_.list(folder)) {
      if (entry.kind != EntryKind::file || !entry.path.ends_with(kEnd)) {
        pass_over(entry);
        continue;
      }
      ParameterFile& file = out_.files.emplace_back();
      file.path = entry.path;
      file.parameter = parameter;
      const std::string stem =
          entry.path.substr(folder.size() + 1, entry.path.size() - folder.size() - 1 - kEnd.size());
      file.suffix = stem == "fp32" ? "@master" : "@" + stem;
      file.torch = torch(entry.path);
      held_[parameter].insert(file.suffix);
      note_exchanged(file, stem);
    }
  }

  void note_exchanged(const ParameterFile& file, const std::string& stem) {
    if (file.torch == nullptr) return;
    const std::string& written = file.torch->saved_as();
    if (written == stem || std::ranges::find(kStates, written) == kStates.end()) return;
    Finding& finding =
        out_.findings.emplace_back(exchanged(stem + std::string(kEnd), written + std::string(kEnd),
                                             {root_.given() + "/" + file.path, {}, {}}));
    finding.tensor = file.parameter + file.suffix;
  }

  std::unique_ptr<TorchFile> torch(const std::string& path) {
    try {
      auto file = std::make_unique<TorchFile>(read_torch(root_.file(path)));
      if (const auto& fault = file->pickle().fault()) throw Error(*fault);
      return file;
    } catch (const Error& error) {
      ++out_.unreadable;
      out_.findings.push_back(unreadable(error.at({root_.given() + "/" + path, {}, {}})));
      return nullptr;
    }
  }

  void pass_over(const Entry& entry) {
    out_.unclaimed = checked_add(out_.unclaimed, entry.size);
    out_.findings.push_back(
        remark({root_.given() + "/" + entry.path, {}, {}}, "no file of a parameter, not read"));
  }

  /// Trained parameters have a master each, and the state that others of their group have; one that
  /// has none lacks what any of them has.
  void find_missing() {
    std::set<std::string> all;
    std::vector<std::set<std::string>> of_groups;
    for (const auto& [mp, known] : out_.tag->parameters) {
      for (const auto& group : known.groups) {
        std::set<std::string>& own = of_groups.emplace_back();
        for (const Candidate& parameter : group) {
          const auto held = held_.find(parameter.name);
          if (held != held_.end()) own.insert(held->second.begin(), held->second.end());
        }
        all.insert(own.begin(), own.end());
      }
    }
    std::size_t g = 0;
    for (const auto& [mp, known] : out_.tag->parameters) {
      for (const auto& group : known.groups) {
        const std::set<std::string>& own = of_groups[g++];
        const bool stateless = std::ranges::all_of(own, [](const std::string& suffix) {
          return suffix == "@master" || suffix == "@step";
        });
        for (const Candidate& parameter : group) {
          for (const std::string& suffix : stateless ? all : own) {
            find_missing(parameter.name, suffix);
          }
          find_missing(parameter.name, "@master");
        }
      }
    }
  }

  void find_missing(const std::string& parameter, const std::string& suffix) {
    if (!held_[parameter].insert(suffix).second) return;
    const std::string file = (suffix == "@master" ? "fp32" : suffix.substr(1)) + std::string(kEnd);
    ++out_.unreadable;
    out_.findings.push_back(found(
        Code::omission, fmt::format("param_shapes lists it, and its {} is not there", file),
        {fmt::format("{}/{}/{}/{}", root_.given(), kZero, parameter, file), {}, {}}, parameter));
  }

  const Root& root_;
  Universal& out_;
  std::map<std::string, std::set<std::string>> held_;  ///< suffixes by parameter
};

class Reader {
 public:
  Reader(const Universal& all, State& state) : all_(all), state_(state) {}

  void read() {
    state_.findings.insert(state_.findings.end(), all_.findings.begin(), all_.findings.end());
    state_.unreadable += all_.unreadable;
    state_.bytes_unclaimed = checked_add(state_.bytes_unclaimed, all_.unclaimed);
    for (const ParameterFile& file : all_.files) {
      if (file.torch == nullptr) continue;
      take_findings(*file.torch);
      try {
        add(file);
      } catch (const Error& error) {
        ++state_.unreadable;
        state_.findings.push_back(unreadable(error, file.parameter + file.suffix));
      }
    }
    if (all_.options) read_options(*all_.options);
  }

 private:
  void take_findings(const TorchFile& file) {
    state_.bytes_unclaimed = checked_add(state_.bytes_unclaimed, file.unclaimed());
    const auto& findings = file.findings();
    state_.findings.insert(state_.findings.end(), findings.begin(), findings.end());
  }

  void add(const ParameterFile& file) {
    const Value root = file.torch->root();
    const bool bare = TorchFile::is_tensor(root);
    const Value value = bare || mapping(root) == std::nullopt ? root : item_of(root, "param");
    const std::string name = file.parameter + file.suffix;
    if (file.suffix == "@step" || !value || !TorchFile::is_tensor(value)) {
      const auto number = number_of(*file.torch, value);
      if (!number) throw Error("expected a tensor", root.where());
      state_.facts.push_back({name, *number, use_of(name), root.where()});
      return;
    }
    const TorchTensor tensor = file.torch->tensor(value);
    if (!tensor.opaque.empty()) throw Error("is a " + tensor.opaque, value.where());
    Record record = record_of(name, tensor);
    shape_up(file, item_of(root, "vocab_tensor").boolean().value_or(false), record);
    state_.records.push_back(std::move(record));
  }

  /// The shape that param_shapes states, which a flat tensor has lost.
  void shape_up(const ParameterFile& file, bool vocabulary, Record& record) {
    const auto known = all_.shapes.find(file.parameter);
    if (known == all_.shapes.end() || known->second == record.shape) return;
    if (vocabulary && is_trimmed(record.shape, known->second)) return;
    const std::int64_t here = element_count(record.shape);
    const std::int64_t stated = element_count(known->second);
    const bool row = record.shape.size() == 1 && record.piece.cells.empty();
    if (row && here == stated) {
      record.shape = known->second;
      return;
    }
    if (row && here > stated && here - stated < all_.tag->ranks.dp) {
      state_.findings.push_back(
          odd(record.piece.where(),
              fmt::format("{} elements of padding behind the {} of the parameter", here - stated,
                          stated),
              Code::padding));
      state_.findings.back().tensor = record.identity.name;
      record.shape = known->second;
      return;
    }
    const bool padded = all_.tag->rules && all_.tag->rules->vocabulary_of(file.parameter) &&
                        is_trimmed(known->second, record.shape);
    state_.findings.push_back(found(
        padded ? Code::padding : Code::shape_or_dtype,
        fmt::format("{} elements here, {} by param_shapes of the model_states files", here, stated),
        record.piece.where(), record.identity.name));
  }

  /// A vocabulary's padding is left out of merged tensors (`vocab_tensor`).
  static bool is_trimmed(const Shape& shape, Shape stated) {
    if (shape.empty() || shape.size() != stated.size() || shape[0] > stated[0]) return false;
    stated[0] = shape[0];
    return shape == stated;
  }

  void read_options(const TorchFile& file) {
    take_findings(file);
    WalkBudget budget(file.pickle());
    for (Fact& fact : optimizer_facts(file.root(), budget)) state_.facts.push_back(std::move(fact));
    const Value inner = item_of(file.root(), "optimizer_state_dict");
    if (!inner) return;
    state_.findings.push_back(remark(
        inner.where(), "flat groups in the optimizer's options are one rank's, and not read"));
    add_steps(file, inner);
  }

  /// Adds the steps of ZeRO 3, where no parameter has a step.pt: the groups' counts are those of
  /// all parameters.
  void add_steps(const TorchFile& file, Value inner) {
    std::optional<double> shared;
    for (const auto& [key, group] :
         mapping(item_of(inner, "state")).value_or(std::vector<KeyValue>())) {
      const auto step = number_of(file, item_of(group, "step"));
      if (!step || (shared && *shared != *step)) return;
      shared = step;
    }
    if (!shared) return;
    for (const auto& [mp, known] : all_.tag->parameters) {
      for (const auto& group : known.groups) {
        for (const Candidate& parameter : group) {
          const std::string name = parameter.name + "@step";
          state_.facts.push_back({name, *shared, use_of(name), inner.where()});
        }
      }
    }
  }

  const Universal& all_;
  State& state_;
};

Run open_deepspeed_universal(const Probe& probe, const OpenOptions&) {
  auto all = std::make_shared<Universal>();
  all->tag = open_universal_tag(probe);
  Opener(probe, *all).open();
  Run run;
  run.format = "deepspeed-universal";
  run.named = all->tag->named;
  run.mesh = all->tag->ranks.mesh();
  run.steps = {all->tag->step()};
  const Universal* raw = all.get();
  run.open = [raw](std::size_t) {
    State state = deepspeed_state(*raw->tag);
    Reader(*raw, state).read();
    return state;
  };
  run.owner = all;
  return run;
}

}  // namespace

const Format kDeepspeedUniversal = {"deepspeed-universal",
                                    "universal checkpoint that ds_to_universal made",
                                    bid_deepspeed_universal, open_deepspeed_universal};

}  // namespace ttcheck::formats
