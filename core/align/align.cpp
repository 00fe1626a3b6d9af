// SPDX-License-Identifier: Apache-2.0
#include "core/align/align.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "core/align/bench.hpp"
#include "core/align/compiled_graphs.hpp"
#include "core/align/counted_ops.hpp"
#include "core/align/dialects.hpp"
#include "core/align/joined_modules.hpp"
#include "core/align/layer_names.hpp"
#include "core/align/map_conflicts.hpp"
#include "core/align/map_rules.hpp"
#include "core/align/named_inputs.hpp"
#include "core/align/names.hpp"
#include "core/align/pair_by_content.hpp"
#include "core/align/pair_from_one.hpp"
#include "core/align/pair_prefixed.hpp"
#include "core/align/pair_recast.hpp"
#include "core/align/record_readings.hpp"
#include "core/align/shared_storage.hpp"
#include "core/align/unpaired_roles.hpp"
#include "core/align/user_maps.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

/// Pairs ops that are named by a counter, in their order. Gives what of these ops has no
/// counterpart and must not meet anything else: taken off the bench.
CountedPairs pair_counted(Bench& bench) {
  CountedPairs made = pair_counted_ops(bench.reference, bench.left, bench.candidate, bench.right);
  std::unordered_set<std::size_t> left(made.only_reference.begin(), made.only_reference.end());
  std::unordered_set<std::size_t> right(made.only_candidate.begin(), made.only_candidate.end());
  for (PairIndex& pair : made.pairs) {
    left.insert(pair.reference);
    right.insert(pair.candidate);
    bench.done.pairs.push_back(std::move(pair));
  }
  std::erase_if(bench.left, [&](std::size_t i) { return left.contains(i); });
  std::erase_if(bench.right, [&](std::size_t j) { return right.contains(j); });
  return made;
}

void exclude_used(Bench& bench, const AlignOptions& options) {
  std::set<std::string> rules;
  for (const auto& [name, rule] : options.used) rules.insert(rule);
  for (const std::string& rule : rules) {
    exclude(bench, rule, [&](const Tensor& tensor) {
      const auto used = options.used.find(tensor.identity.name);
      return used != options.used.end() && used->second == rule;
    });
  }
}

using KindKey = std::pair<Phase, Kind>;

std::set<KindKey> kinds_of(std::span<const Tensor> tensors) {
  std::set<KindKey> kinds;
  for (const Tensor& tensor : tensors) kinds.emplace(tensor.identity.phase, tensor.kind);
  return kinds;
}

/// A kind that one side does not have at all was not recorded there; it is no list of losses.
void exclude_absent_kinds(Bench& bench) {
  const std::set<KindKey> left = kinds_of(bench.reference);
  const std::set<KindKey> right = kinds_of(bench.candidate);
  const auto absent = [&](const std::set<KindKey>& has, const std::set<KindKey>& lacks,
                          std::string_view side) {
    for (const KindKey& kind : has) {
      const bool weight = kind.first == Phase::none && kind.second == Kind::weight;
      if (lacks.contains(kind) || weight) continue;
      const std::string where =
          kind.first == Phase::none ? "" : fmt::format(" in {}", name(kind.first));
      exclude(bench, fmt::format("kind {}{}: not in {}", name(kind.second), where, side),
              [&](const Tensor& tensor) {
                return KindKey{tensor.identity.phase, tensor.kind} == kind;
              });
    }
  };
  absent(left, right, "candidate");
  absent(right, left, "reference");
}

KeyOf by(std::string (*spelling)(std::string_view)) {
  return [spelling](const Tensor& tensor) { return keyed(tensor, spelling(tensor.identity.name)); };
}

/// A pickled namedtuple holds its items by position, other writers hold them by field: `<p>.0`
/// meets
/// `<p>.left` where each is the only one left of its parent, dtype and shape.
void pair_tuple_fields(Bench& bench) {
  const auto key = [](const Tensor& tensor, bool position) {
    const std::string& name = tensor.identity.name;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size()) return std::string();
    const bool number = name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    if (number != position) return std::string();
    return keyed(tensor, fmt::format("{}\n{}\n{}", name.substr(0, dot), ttcheck::name(tensor.dtype),
                                     fmt::join(tensor.shape, ",")));
  };
  const KeyOf position = [&](const Tensor& tensor) { return key(tensor, true); };
  const KeyOf field = [&](const Tensor& tensor) { return key(tensor, false); };
  pair_by(bench, kTupleForField, position, field);
  pair_by(bench, kTupleForField, field, position);
}

/// `<p>` of one side meets `<p>@master` of the other where that is all there is.
void pair_masters(Bench& bench) {
  const KeyOf plain = [](const Tensor& tensor) {
    return tensor.kind == Kind::weight ? keyed(tensor, bare(tensor.identity.name)) : "";
  };
  const KeyOf master = [](const Tensor& tensor) {
    const std::string_view parameter = parameter_of_master(tensor.identity.name);
    return parameter.empty() ? "" : keyed(tensor, bare(parameter));
  };
  pair_by(bench, kMasterForParameter, plain, master);
  pair_by(bench, kMasterForParameter, master, plain);
}

/// TensorFlow, and BERT's checkpoints of old, call the weight of a norm gamma and its bias beta.
void pair_norms(Bench& bench) {
  const auto key = [](const Tensor& tensor, bool old) {
    const std::string name = bare(tensor.identity.name);
    const std::string_view behind = std::string_view(name).substr(name.find_last_of(".") + 1);
    const std::string_view last = behind.substr(0, behind.find('@'));
    const bool weight = last == (old ? "gamma" : "weight");
    if ((!weight && last != (old ? "beta" : "bias")) || tensor.shape.size() != 1) {
      return std::string();
    }
    const std::string_view module = std::string_view(name).substr(0, name.size() - behind.size());
    return keyed(tensor, fmt::format("{}{}{}\n{}", module, weight ? "weight" : "bias",
                                     behind.substr(last.size()), tensor.shape.front()));
  };
  const KeyOf old = [&](const Tensor& tensor) { return key(tensor, true); };
  const KeyOf now = [&](const Tensor& tensor) { return key(tensor, false); };
  pair_by(bench, kNormNames, old, now);
  pair_by(bench, kNormNames, now, old);
}

/// Adds what configs leave out because it follows from the rest.
void complete(Numbers& numbers) {
  const auto heads = numbers.find("heads");
  if (heads == numbers.end() || heads->second <= 0) return;
  numbers.try_emplace("kv_heads", heads->second);
  const auto hidden = numbers.find("hidden");
  if (hidden != numbers.end() && hidden->second % heads->second == 0) {
    numbers.try_emplace("head_dim", hidden->second / heads->second);
  }
}

/// What the side that lacks these tensors stores them under, by what it says (of which parameters,
/// or that some are tied: those that lie in the same bytes here) and by the user's maps.
Ties ties_of(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
             const StatedTies& stated, const std::vector<MapRule>& rules) {
  Ties ties = stated.names;
  if (stated.embeddings && !alone.empty()) {
    const SharedStorage shared(tensors, alone);
    for (const std::size_t i : alone) {
      if (const Tensor* twin = shared.twin_of(i)) {
        ties.emplace(tensors[i].identity.name, twin->identity.name);
      }
    }
  }
  for (const MapRule& rule : rules) {
    const UserMap map(rule);
    for (const std::size_t i : alone) {
      const std::string& name = tensors[i].identity.name;
      std::string stored = map.tied_to(name);
      if (!stored.empty()) ties.insert_or_assign(name, std::move(stored));
    }
  }
  return ties;
}

/// What one side has alone meets the tensor of the other that it follows from.
void pair_implied(Bench& bench, const AlignOptions& options) {
  const Implied left =
      implied(bench.reference, bench.left, bench.candidate,
              ties_of(bench.reference, bench.left, options.candidate_ties, options.maps));
  const Implied right =
      implied(bench.candidate, bench.right, bench.reference,
              ties_of(bench.candidate, bench.right, options.reference_ties, options.maps));
  for (const auto& [i, by] : left) bench.done.pairs.push_back({i, by.tensor, std::string(by.rule)});
  for (const auto& [j, by] : right)
    bench.done.pairs.push_back({by.tensor, j, std::string(by.rule)});
  std::erase_if(bench.left, [&](std::size_t i) { return left.contains(i); });
  std::erase_if(bench.right, [&](std::size_t j) { return right.contains(j); });
}

/// Stacks that stayed alone since nothing tells which way their experts lie.
void note_unclear(Bench& bench, const ExpertStacks& left, const ExpertStacks& right) {
  for (const std::size_t i : bench.left) {
    const Tensor& tensor = bench.reference[i];
    if (left.unclear(tensor)) bench.done.unclear.insert(tensor.identity.name);
  }
  for (const std::size_t j : bench.right) {
    const Tensor& tensor = bench.candidate[j];
    if (right.unclear(tensor)) bench.done.unclear.insert(tensor.identity.name);
  }
}

/// Stacks of experts that lie upright on one side and transposed on the other are not the same
/// under one name; they are left to the readings of their names.
void without_turned(Bench& bench, const ExpertStacks& left, const ExpertStacks& right,
                    const std::function<void()>& pair) {
  std::vector<std::size_t> held_left, held_right;
  const auto hold = [](std::vector<std::size_t>& from, std::vector<std::size_t>& held,
                       const auto& turned) {
    const auto out = std::ranges::stable_partition(from, [&](std::size_t i) { return !turned(i); });
    held.assign(out.begin(), out.end());
    from.erase(out.begin(), out.end());
  };
  hold(bench.left, held_left,
       [&](std::size_t i) { return left.turned_against(right, bench.reference[i]); });
  hold(bench.right, held_right,
       [&](std::size_t j) { return right.turned_against(left, bench.candidate[j]); });
  pair();
  bench.left.insert(bench.left.end(), held_left.begin(), held_left.end());
  bench.right.insert(bench.right.end(), held_right.begin(), held_right.end());
}

/// A module that several stages of a DeepSpeed pipeline share has a name where the optimizer lists
/// names (`tied_modules.embed.weight`), else the number of its layer (`0.weight`).
void pair_tied_layers(Bench& bench) {
  const auto rest = [](const Tensor& tensor, std::string_view behind) {
    const std::size_t dot = behind.find('.');
    if (dot == std::string_view::npos) return std::string();
    return keyed(tensor,
                 fmt::format("{}\n{}", behind.substr(dot + 1), fmt::join(tensor.shape, ",")));
  };
  const KeyOf tied = [&](const Tensor& tensor) {
    constexpr std::string_view kTied = "tied_modules.";
    const std::string_view name = tensor.identity.name;
    return name.starts_with(kTied) ? rest(tensor, name.substr(kTied.size())) : std::string();
  };
  const KeyOf layer = [&](const Tensor& tensor) {
    const std::string_view name = tensor.identity.name;
    const std::size_t dot = name.find('.');
    const bool number =
        dot != std::string_view::npos && dot > 0 && name.find_first_not_of("0123456789") == dot;
    return number ? rest(tensor, name) : std::string();
  };
  pair_by(bench, kTiedForLayer, tied, layer);
  pair_by(bench, kTiedForLayer, layer, tied);
}

/// What a layer that predicts further tokens has a copy of, and the other side does not, meets what
/// the original met.
void pair_copies(Bench& bench, const LayerNames& left, const LayerNames& right) {
  NameMap<PairIndex> by_left, by_right;
  for (const PairIndex& pair : bench.done.pairs) {
    if (pair.rescaling != nullptr) continue;
    by_left.emplace(bare(bench.reference[pair.reference].identity.name), pair);
    by_right.emplace(bare(bench.candidate[pair.candidate].identity.name), pair);
  }
  const auto met = [](const auto& pairs,
                      const std::vector<std::string>& names) -> const PairIndex* {
    for (const std::string& name : names) {
      if (const auto found = pairs.find(name); found != pairs.end()) return &found->second;
    }
    return nullptr;
  };
  const std::string rule(kSharedCopy);
  std::erase_if(bench.left, [&](std::size_t i) {
    const Tensor& copy = bench.reference[i];
    const PairIndex* pair = met(by_left, left.originals(bare(copy.identity.name)));
    const bool fits = pair != nullptr && bench.candidate[pair->candidate].shape == copy.shape;
    if (fits) bench.done.pairs.push_back({i, pair->candidate, rule});
    return fits;
  });
  std::erase_if(bench.right, [&](std::size_t j) {
    const Tensor& copy = bench.candidate[j];
    const PairIndex* pair = met(by_right, right.originals(bare(copy.identity.name)));
    const bool fits = pair != nullptr && bench.reference[pair->reference].shape == copy.shape;
    if (fits) bench.done.pairs.push_back({pair->reference, j, rule});
    return fits;
  });
}

/// A buffer of Hugging Face's models, which a state_dict leaves out and a pickled module has.
bool is_inverse(const Tensor& tensor) {
  return tensor.identity.name.ends_with("rotary_emb.inv_freq");
}

bool is_frequencies(const Tensor& tensor) {
  return tensor.identity.name == "rope.freqs" || is_inverse(tensor);
}

/// Frequencies of rotary positions, which a few writers store beside the weights: they follow from
/// the configuration, and where other families of names meet, or other writers, the other one
/// leaves them out. A side that has some lost those that it has not.
void exclude_frequencies(Bench& bench, bool other_writer) {
  const bool families = std::ranges::any_of(bench.done.pairs, [](const PairIndex& pair) {
    const NameRule* rule = name_rule(pair.rule);
    return rule != nullptr && rule->name == kOtherNames;
  });
  const bool stored = std::ranges::any_of(bench.done.pairs, [&](const PairIndex& pair) {
    return is_frequencies(bench.reference[pair.reference]);
  });
  if (!families && stored) return;
  exclude(bench, "rotary frequencies: only one writer stores them",
          families || other_writer ? is_frequencies : is_inverse);
}

}  // namespace

Alignment align(std::span<const Tensor> reference, std::vector<Tensor>& candidate,
                const AlignOptions& options, const Numbers& numbers) {
  Numbers known = options.numbers;
  known.insert(numbers.begin(), numbers.end());
  complete(known);
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  exclude_used(bench, options);
  refuse_conflicts(options.maps, reference, candidate);
  for (const MapRule& map : options.maps) pair_rescaled(bench, map, known);
  const CountedPairs counted = pair_counted(bench);
  const ExpertStacks left(reference, candidate), right(candidate, reference);
  pair_from_one(bench, options.values);
  without_turned(bench, left, right, [&] { pair_same(bench); });
  for (const MapRule& map : options.maps) pair_by_map(bench, candidate, map, known);
  if (!bench.left.empty() && !bench.right.empty()) {
    without_turned(bench, left, right, [&] {
      pair_by(bench, kWrapperPrefix, by(unwrapped), by(unwrapped));
      pair_by(bench, kAdapterName, by(without_adapter), by(without_adapter));
      pair_by(bench, kModelPrefix, by(bare), by(bare));
      pair_by(bench, kLanguagePrefix, by(language_part), by(language_part));
      pair_prefixed(bench, options.content);
      pair_norms(bench);
    });
    const LayerNames left_names(reference), right_names(candidate);
    const Families families = {of_records(dialects(left, left_names)),
                               of_records(dialects(right, right_names))};
    pair_recast(bench, candidate, families, known);
    pair_shared_inputs(bench, families.reference, families.candidate);
    pair_masters(bench);
    pair_masters_recast(bench, candidate, families, known);
    pair_tuple_fields(bench);
    pair_tied_layers(bench);
    note_unclear(bench, left, right);
  }
  if (!bench.left.empty() || !bench.right.empty()) {
    pair_copies(bench, LayerNames(reference), LayerNames(candidate));
  }
  pair_named_inputs(bench);
  pair_implied(bench, options);
  pair_by_content(bench, candidate, known, options.content);
  pair_joined_modules(bench, candidate, known, options.content, options.joined);
  exclude_frequencies(bench, options.other_writer);
  bench.left.insert(bench.left.end(), counted.only_reference.begin(), counted.only_reference.end());
  bench.right.insert(bench.right.end(), counted.only_candidate.begin(),
                     counted.only_candidate.end());
  exclude_bookkeeping(bench);
  exclude_in_graphs(bench, options.candidate_graphs, "candidate");
  exclude_in_graphs(bench, options.reference_graphs, "reference");
  exclude_absent_kinds(bench);
  if (!std::ranges::is_sorted(bench.done.pairs, {}, &PairIndex::reference)) {
    std::ranges::stable_sort(bench.done.pairs, {}, &PairIndex::reference);
  }
  bench.done.only_reference = std::move(bench.left);
  bench.done.only_candidate = std::move(bench.right);
  return std::move(bench.done);
}

}  // namespace ttcheck::align
