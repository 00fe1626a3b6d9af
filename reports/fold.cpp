#include "reports/fold.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "reports/escape.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// A name parted at its numbered parts: "layers." 3 ".mlp.weight".
struct Parted {
  std::vector<std::string> texts;  ///< one more than numbers
  std::vector<std::int64_t> numbers;
};

bool ends_part(char letter) { return letter == '.' || letter == '/'; }

/// Numbers of up to 18 digits without leading zeros, alone between dots or slashes.
Parted part(const std::string& name) {
  Parted parted{{""}, {}};
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    const bool alone = end > at && end - at <= 18 && (at == 0 || ends_part(name[at - 1])) &&
                       (end == name.size() || ends_part(name[end])) &&
                       (name[at] != '0' || end == at + 1);
    if (!alone) {
      end = std::max(end, at + 1);
      parted.texts.back().append(name, at, end - at);
    } else {
      std::int64_t number = 0;
      std::from_chars(name.data() + at, name.data() + end, number);
      parted.numbers.push_back(number);
      parted.texts.emplace_back();
    }
    at = end;
  }
  return parted;
}

using Key = std::tuple<std::vector<std::string>, Outcome, Kind, DType, DType, Phase>;

struct Gathered {
  Group group;
  std::vector<std::set<std::int64_t>> numbers;
  std::set<std::int64_t> steps;
  std::set<std::int32_t> ranks;
};

std::string name_of(const std::vector<std::string>& texts, const Gathered& gathered) {
  std::string name = terminal_text(texts.front());
  for (std::size_t i = 0; i < gathered.numbers.size(); ++i) {
    const std::vector<std::int64_t> numbers(gathered.numbers[i].begin(), gathered.numbers[i].end());
    const std::string list = folded(numbers);
    name += numbers.size() == 1 ? list : "{" + list + "}";
    name += terminal_text(texts[i + 1]);
  }
  const Phase phase = gathered.group.worst->identity.phase;
  return phase == Phase::none ? name : std::string(ttcheck::name(phase)) + " " + name;
}

}  // namespace

std::vector<Group> fold(const std::vector<const TensorResult*>& results) {
  std::map<Key, std::size_t> index_of;
  std::vector<Gathered> all;
  std::vector<const std::vector<std::string>*> texts;
  for (const TensorResult* result : results) {
    Parted parted = part(result->identity.name);
    const auto [found, added] =
        index_of.try_emplace(Key{std::move(parted.texts), result->outcome, result->kind,
                                 result->dtype, result->candidate_dtype, result->identity.phase},
                             all.size());
    if (added) {
      all.emplace_back();
      all.back().numbers.resize(parted.numbers.size());
      texts.push_back(&std::get<0>(found->first));
    }
    Gathered& gathered = all[found->second];
    for (std::size_t i = 0; i < parted.numbers.size(); ++i) {
      gathered.numbers[i].insert(parted.numbers[i]);
    }
    if (result->step) gathered.steps.insert(*result->step);
    gathered.ranks.insert(result->wrong_ranks.begin(), result->wrong_ranks.end());
    Group& group = gathered.group;
    group.results.push_back(result);
    if (group.worst == nullptr || result->ratio > group.worst->ratio) group.worst = result;
  }
  std::vector<Group> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Group& group = all[i].group;
    group.name = name_of(*texts[i], all[i]);
    group.steps.assign(all[i].steps.begin(), all[i].steps.end());
    group.ranks.assign(all[i].ranks.begin(), all[i].ranks.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace ttcheck::reports
