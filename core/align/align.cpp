#include "core/align/align.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "core/align/dialects.hpp"
#include "core/align/map_rules.hpp"
#include "core/align/names.hpp"
#include "core/base/glob.hpp"

namespace ttcheck::align {
namespace {

/// What is still alone on each side while the rules run.
struct Bench {
  std::span<const Tensor> reference, candidate;
  std::vector<std::size_t> left, right;
  Alignment done;
};

using KeyOf = std::function<std::string(const Tensor&)>;

/// A key that also holds what must agree beside the name; never empty.
std::string keyed(const Tensor& tensor, std::string_view name) {
  const Identity& id = tensor.identity;
  if (id.phase == Phase::none) return fmt::format("{}\n", name);
  return fmt::format("{}\n{}\n{}\n{}", name, static_cast<int>(id.phase), id.microbatch, id.call);
}

/// Pairs what has the same non-empty key on both sides, where the key is unique on each.
void pair_by(Bench& bench, const std::string& rule, const KeyOf& left_key, const KeyOf& right_key) {
  constexpr std::size_t kTwice = static_cast<std::size_t>(-1);
  std::unordered_map<std::string, std::size_t> where;
  for (const std::size_t j : bench.right) {
    std::string key = right_key(bench.candidate[j]);
    if (key.empty()) continue;
    const auto [slot, fresh] = where.try_emplace(std::move(key), j);
    if (!fresh) slot->second = kTwice;
  }
  std::unordered_map<std::string, std::size_t> seen;
  std::vector<std::string> keys;
  keys.reserve(bench.left.size());
  for (const std::size_t i : bench.left) {
    keys.push_back(left_key(bench.reference[i]));
    ++seen[keys.back()];
  }
  std::set<std::size_t> used;
  std::vector<std::size_t> rest;
  for (std::size_t n = 0; n < bench.left.size(); ++n) {
    const auto found = keys[n].empty() ? where.end() : where.find(keys[n]);
    if (found == where.end() || found->second == kTwice || seen[keys[n]] > 1) {
      rest.push_back(bench.left[n]);
      continue;
    }
    bench.done.pairs.push_back({bench.left[n], found->second, rule});
    used.insert(found->second);
  }
  bench.left = std::move(rest);
  std::erase_if(bench.right, [&](std::size_t j) { return used.contains(j); });
}

/// Pairs equal identities at equal places: two runs mostly list their tensors in one order.
void pair_in_order(Bench& bench) {
  std::vector<std::size_t> left, right;
  const std::size_t both = std::min(bench.left.size(), bench.right.size());
  for (std::size_t n = 0; n < both; ++n) {
    const std::size_t i = bench.left[n];
    const std::size_t j = bench.right[n];
    if (bench.reference[i].identity == bench.candidate[j].identity) {
      bench.done.pairs.push_back({i, j, "same"});
    } else {
      left.push_back(i);
      right.push_back(j);
    }
  }
  const auto rest = static_cast<std::ptrdiff_t>(both);
  left.insert(left.end(), bench.left.begin() + rest, bench.left.end());
  right.insert(right.end(), bench.right.begin() + rest, bench.right.end());
  bench.left = std::move(left);
  bench.right = std::move(right);
}

/// Pairs equal identities. REQUIRES that each side has an identity once.
void pair_same(Bench& bench) {
  bench.done.pairs.reserve(std::min(bench.left.size(), bench.right.size()));
  pair_in_order(bench);
  const auto hash = [](const Identity* identity) { return IdentityHash{}(*identity); };
  const auto equal = [](const Identity* a, const Identity* b) { return *a == *b; };
  std::unordered_map<const Identity*, std::size_t, decltype(hash), decltype(equal)> where(
      bench.right.size(), hash, equal);
  for (const std::size_t j : bench.right) where.emplace(&bench.candidate[j].identity, j);
  std::erase_if(bench.left, [&](std::size_t i) {
    const auto found = where.find(&bench.reference[i].identity);
    if (found == where.end()) return false;
    bench.done.pairs.push_back({i, found->second, "same"});
    where.erase(found);
    return true;
  });
  std::erase_if(bench.right,
                [&](std::size_t j) { return !where.contains(&bench.candidate[j].identity); });
}

/// Takes what `is_out` names out of both sides and counts it under `rule`.
void exclude(Bench& bench, const std::string& rule,
             const std::function<bool(const Tensor&)>& is_out) {
  std::int64_t count = 0;
  const auto take = [&](std::vector<std::size_t>& side, std::span<const Tensor> tensors) {
    count += static_cast<std::int64_t>(
        std::erase_if(side, [&](std::size_t i) { return is_out(tensors[i]); }));
  };
  take(bench.left, bench.reference);
  take(bench.right, bench.candidate);
  if (count > 0) bench.done.excluded_by.emplace_back(rule, count);
}

void exclude_by_name(Bench& bench, const AlignOptions& options) {
  for (const std::string& pattern : options.exclude) {
    const Glob glob(pattern);
    exclude(bench, "--exclude " + pattern,
            [&](const Tensor& tensor) { return glob.matches(tensor.identity.name); });
  }
  if (options.include.empty()) return;
  std::vector<Glob> globs(options.include.begin(), options.include.end());
  exclude(bench, "--include", [&](const Tensor& tensor) {
    return std::ranges::none_of(
        globs, [&](const Glob& glob) { return glob.matches(tensor.identity.name); });
  });
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

KeyOf renamed(const UserMap& rename) {
  return [&rename](const Tensor& tensor) {
    const std::string to = rename.candidate_name(tensor.identity.name);
    return to.empty() ? to : keyed(tensor, to);
  };
}

/// The key of the parameter whose master a tensor is; empty for any other.
KeyOf of_master(const KeyOf& key) {
  return [key](const Tensor& tensor) {
    Tensor parameter;
    parameter.dtype = tensor.dtype;
    parameter.identity = tensor.identity;
    parameter.identity.name = parameter_of_master(tensor.identity.name);
    return parameter.identity.name.empty() ? std::string() : key(parameter);
  };
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
  pair_by(bench, "tuple position for field", position, field);
  pair_by(bench, "tuple position for field", field, position);
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
  pair_by(bench, "master-for-param", plain, master);
  pair_by(bench, "master-for-param", master, plain);
}

/// Pairs what the two sides cut or fuse in different ways; the tensors seen through the maps are
/// added to `candidate`.
void pair_recast(Bench& bench, std::vector<Tensor>& candidate, const Readings& readings,
                 const Numbers& numbers, std::string_view note = "") {
  if (bench.left.empty() || bench.right.empty()) return;
  Recasts made =
      recast({bench.reference, bench.left}, {bench.candidate, bench.right}, readings, numbers);
  std::set<std::size_t> met;
  for (Recast& one : made.pairs) {
    met.insert(one.reference);
    std::string rule =
        one.candidate_scheme == one.reference_scheme
            ? one.reference_scheme + " spellings"
            : fmt::format("{} for {} names", one.candidate_scheme, one.reference_scheme);
    if (one.reference_scheme.starts_with("map ")) rule = one.reference_scheme;
    rule += note;
    if (made.sliced > 0) bench.done.sliced_by.emplace_back(rule, std::exchange(made.sliced, 0));
    bench.done.pairs.push_back({one.reference, candidate.size(), std::move(rule)});
    candidate.push_back(std::move(one.seen));
  }
  std::erase_if(bench.left, [&](std::size_t i) { return met.contains(i); });
  std::erase_if(bench.right,
                [&](std::size_t j) { return std::ranges::binary_search(made.used, j); });
  for (Tensor& part : made.rest) {
    bench.right.push_back(candidate.size());
    candidate.push_back(std::move(part));
  }
  bench.candidate = candidate;
  bench.done.unknown.merge(made.unknown);
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

/// Where one side has weights and the other masters alone, also across families.
void pair_masters_recast(Bench& bench, std::vector<Tensor>& candidate, const Readings& readings,
                         const Numbers& numbers) {
  const auto plain = [&](const Tensor& tensor) {
    const std::string_view parameter = parameter_of_master(tensor.identity.name);
    if (parameter.empty()) return readings(tensor);
    Tensor weight;
    weight.identity.name = parameter;
    weight.shape = tensor.shape;
    return readings(weight);
  };
  pair_recast(bench, candidate, plain, numbers, ", master-for-param");
}

void pair_by_map(Bench& bench, std::vector<Tensor>& candidate, const MapRule& rule,
                 const Numbers& numbers) {
  const UserMap map(rule);
  if (map.rescales()) return;  // applied before any other rule
  if (map.ignores()) {
    return exclude(bench, "map ignore " + rule.reference,
                   [&](const Tensor& tensor) { return map.matches(tensor.identity.name); });
  }
  if (!map.renames()) {
    return pair_recast(
        bench, candidate, [&](const Tensor& tensor) { return map.readings(tensor.identity.name); },
        numbers);
  }
  const KeyOf same = [&](const Tensor& tensor) {
    return map.admits(tensor) ? keyed(tensor, tensor.identity.name) : "";
  };
  pair_by(bench, "map " + rule.reference, renamed(map), same);
  pair_by(bench, "map " + rule.reference, same, renamed(map));
}

/// The key of a tensor of real or complex numbers; empty for integers, which no map rounds.
KeyOf of_reals(const KeyOf& key) {
  return
      [key](const Tensor& tensor) { return is_exact(tensor.dtype) ? std::string() : key(tensor); };
}

/// A map that changes values. Tensors of one name are not the same either; where one side has
/// masters alone, they stand for their parameters.
void pair_rescaled(Bench& bench, const MapRule& rule, const Numbers& numbers) {
  const UserMap map(rule);
  if (!map.rescales()) return;
  const std::vector<std::string> unknown = unknown_numbers(map.op(), numbers);
  if (!unknown.empty()) {
    bench.done.unknown.insert(unknown.begin(), unknown.end());
    return;
  }
  const auto pair = [&](const KeyOf& left, const KeyOf& right, bool forward) {
    const std::size_t before = bench.done.pairs.size();
    pair_by(bench, fmt::format("map {}, {}", rule.reference, rule.op), left, right);
    for (PairIndex& made : std::span(bench.done.pairs).subspan(before)) {
      const auto there = rescaling_of(map.op(), bench.reference[made.reference].kind, numbers);
      made.rescaling = &bench.done.rescalings.emplace_back(
          forward ? there : Rescaling{there.back, there.forward});
    }
  };
  const KeyOf same = of_reals(by([](std::string_view name) { return std::string(name); }));
  const KeyOf to = of_reals(renamed(map));
  for (const auto& [left, right] :
       {std::pair(same, to), {of_master(same), to}, {same, of_master(to)}}) {
    pair(right, left, true);
    pair(left, right, false);
  }
}

/// What the side that lacks these tensors stores them under, by what it says and by the user's
/// maps.
Ties ties_of(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
             const Ties& stated, const std::vector<MapRule>& rules) {
  Ties ties = stated;
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
void note_unclear(Bench& bench, const ExpertStacks& stacks) {
  const auto note = [&](std::span<const Tensor> tensors, std::span<const std::size_t> alone) {
    for (const std::size_t i : alone) {
      if (stacks.unclear(tensors[i])) bench.done.unclear.insert(tensors[i].identity.name);
    }
  };
  note(bench.reference, bench.left);
  note(bench.candidate, bench.right);
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
  exclude_by_name(bench, options);
  for (const MapRule& map : options.maps) pair_rescaled(bench, map, known);
  pair_same(bench);
  for (const MapRule& map : options.maps) pair_by_map(bench, candidate, map, known);
  if (!bench.left.empty() && !bench.right.empty()) {
    pair_by(bench, "wrapper prefix", by(unwrapped), by(unwrapped));
    pair_by(bench, "model prefix", by(bare), by(bare));
    const ExpertStacks stacks(reference, candidate);
    const Readings families = dialects(stacks);
    pair_recast(bench, candidate, families, known);
    pair_masters(bench);
    pair_masters_recast(bench, candidate, families, known);
    pair_tuple_fields(bench);
    note_unclear(bench, stacks);
  }
  pair_implied(bench, options);
  exclude_absent_kinds(bench);
  if (!std::ranges::is_sorted(bench.done.pairs, {}, &PairIndex::reference)) {
    std::ranges::stable_sort(bench.done.pairs, {}, &PairIndex::reference);
  }
  bench.done.only_reference = std::move(bench.left);
  bench.done.only_candidate = std::move(bench.right);
  return std::move(bench.done);
}

}  // namespace ttcheck::align
