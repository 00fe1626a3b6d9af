// SPDX-License-Identifier: Apache-2.0
// Stages 1 and 2: a group's parts are of one length, only the fp32 row of the last rank has lost
// its padding, so the longest row of any rank is that length. The order of `param_shapes` is the
// order of the row, also under round_robin_gradients; `param_slice_mappings` is not, there, and is
// only held against it (formats/deepspeed/slice_mappings).

#include "formats/deepspeed/zero_partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/experts.hpp"
#include "formats/deepspeed/optim_states.hpp"
#include "formats/deepspeed/partition_cuts.hpp"
#include "formats/deepspeed/slice_mappings.hpp"
#include "formats/deepspeed/tp_blocks.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

/// Names of a rank's parameters, and where cut ranges of them go.
struct Target {
  const std::vector<Candidate>* parameters = nullptr;
  std::vector<std::string> names;  ///< global ones
  std::int32_t rank = 0;
  DeepspeedPlace place;
};

class Reader {
 public:
  Reader(const DeepspeedTag& tag, DeepspeedBudget& budget, DeepspeedSteps& steps, State& state)
      : tag_(tag), budget_(budget), steps_(steps), state_(state) {}

  void read() {
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::optimizer)) {
      all_.push_back(read_rows(*part, state_));
    }
    measure();
    if (tag_.autoep && !all_.empty()) return refuse();
    for (const DeepspeedRows& rows : all_) {
      const auto found = tag_.parameters.find(rows.part->file.mp);
      if (found == tag_.parameters.end()) {
        nameless(rows);
        continue;
      }
      try {
        rows.alone ? place_alone(rows, found->second) : place_groups(rows, found->second);
      } catch (const Error& error) {
        ++state_.unreadable;
        say(found_at(Code::unreadable, rows, error.message()));
      }
    }
  }

 private:
  Finding found_at(Code code, const DeepspeedRows& rows, std::string message) const {
    Finding finding = found(code, std::move(message), {tag_.path_of(*rows.part), {}, {}});
    finding.ranks = {rank_of(rows)};
    return finding;
  }

  std::int32_t rank_of(const DeepspeedRows& rows) const {
    return tag_.ranks.rank(*rows.part->file.dp, rows.part->file.mp);
  }

  void say(Finding finding) { state_.findings.push_back(std::move(finding)); }

  /// Rows or numbers of one flat group.
  template <typename T>
  static auto of_group(const std::vector<T>& all, std::size_t group) {
    return std::ranges::equal_range(all, group, {}, &T::group);
  }

  void refuse() {
    for (const DeepspeedRows& rows : all_) state_.unreadable += std::ssize(rows.rows);
    say(found(Code::omission,
              "AutoEP cut the experts over the ranks that hold copies of them "
              "(zero3_partitioned), which is not read; the optimizer's state is left out",
              {tag_.given, {}, {}}));
  }

  void nameless(const DeepspeedRows& rows) {
    state_.unreadable += std::ssize(rows.rows);
    say(found_at(Code::omission, rows,
                 fmt::format("no model_states file names the parameters of these {} rows",
                             rows.rows.size())));
  }

  /// The length of each group's parts.
  void measure() {
    for (const DeepspeedRows& rows : all_) {
      std::vector<std::int64_t>& longest = parts_[rows.part->file.mp];
      longest.resize(std::max(longest.size(), rows.lengths.size()), 0);
      for (std::size_t g = 0; g < rows.lengths.size(); ++g) {
        longest[g] = std::max(longest[g], rows.lengths[g]);
      }
    }
  }

  Target target(const DeepspeedRows& rows, const std::vector<Candidate>& parameters) const {
    return {&parameters, {}, rank_of(rows), tag_.place_of(*rows.part)};
  }

  void place_groups(const DeepspeedRows& rows, const DeepspeedParameters& known) {
    const std::size_t groups = known.groups.size();
    if (rows.lengths.size() != groups) {
      say(found_at(Code::shape_or_dtype, rows,
                   fmt::format("param_shapes has {} groups, the optimizer has {}", groups,
                               rows.lengths.size())));
    }
    const auto counts = counts_of(rows.optimizer, "partition_count", groups);
    const std::vector<Value> paddings =
        sequence(item_of(rows.optimizer, "param_alignment_paddings"))
            .value_or(std::vector<Value>());
    for (std::size_t g = 0; g < groups && g < rows.lengths.size(); ++g) {
      const std::int64_t stated = counts.empty() ? tag_.ranks.dp : counts[g];
      const std::int64_t count = stated < 1 || stated > tag_.ranks.dp ? tag_.ranks.dp : stated;
      const std::int64_t fold = tag_.ranks.dp / count;  // expert-parallel ranks of this group
      const std::int64_t index = *rows.part->file.dp / fold;
      Target to = target(rows, known.groups[g]);
      const auto experts = count_experts(known.groups[g]);
      for (const Candidate& parameter : known.groups[g]) {
        to.names.push_back(global_expert_name(parameter.name, *rows.part->file.dp % fold, experts));
      }
      std::vector<std::int64_t> between;
      if (g < paddings.size()) {
        for (const Value& item : sequence(paddings[g]).value_or(std::vector<Value>())) {
          between.push_back(std::max<std::int64_t>(item.integer().value_or(0), 0));
        }
      }
      const auto starts = starts_of(known.groups[g], between);
      const std::int64_t part = parts_.at(rows.part->file.mp)[g];
      judge_length(rows, g, starts.back(), checked_mul(part, count), 2 * count);
      check_slices(tag_, rows, g, {known.groups[g], starts, part, index, count}, state_);
      const std::int64_t begin = checked_mul(index, part);
      const auto cuts = cuts_of_part(known.groups[g], starts, begin, part);
      for (const auto& row : of_group(rows.rows, g)) add_cuts(row, cuts, 0, to);
      for (const auto& number : of_group(rows.numbers, g)) {
        if (!is_new(number, *rows.part->file.dp % fold, rows)) continue;
        for (const std::string& name : to.names) add_number(number, name);
      }
    }
  }

  void place_alone(const DeepspeedRows& rows, const DeepspeedParameters& known) {
    std::vector<Candidate> parameters;
    for (const auto& group : known.groups) {
      parameters.insert(parameters.end(), group.begin(), group.end());
    }
    const std::vector<std::int64_t> counts = counts_of(rows.optimizer, "partition_count", 1);
    const std::int64_t stated = counts.empty() ? tag_.ranks.dp : counts[0];
    const std::int64_t count = stated < 1 || stated > tag_.ranks.dp ? tag_.ranks.dp : stated;
    std::int64_t length = 0;
    const auto cuts = cuts_alone(parameters, *rows.part->file.dp % count, count, length);
    std::vector<std::int64_t> starts = {0};
    for (const std::int64_t one : rows.lengths) starts.push_back(checked_add(starts.back(), one));
    judge_length(rows, 0, length, starts.back(), 1);
    Target to = target(rows, parameters);
    for (const Candidate& parameter : parameters) to.names.push_back(parameter.name);
    for (const DeepspeedRows::Row& row : rows.rows) add_cuts(row, cuts, starts[row.group], to);
    add_numbers_alone(rows, parameters, count, starts);
  }

  /// Numbers of a flat group go to the parameters with a share in it, padding or not.
  void add_numbers_alone(const DeepspeedRows& rows, const std::vector<Candidate>& parameters,
                         std::int64_t count, const std::vector<std::int64_t>& starts) {
    std::map<std::size_t, std::vector<const DeepspeedRows::Number*>> fresh;
    for (const auto& number : rows.numbers) {
      if (is_new(number, 0, rows)) fresh[number.group].push_back(&number);
    }
    if (fresh.empty()) return;
    std::int64_t at = 0;
    std::size_t group = 0;
    for (const Candidate& parameter : parameters) {
      while (group + 2 < starts.size() && at >= starts[group + 1]) ++group;
      if (fresh.contains(group)) {
        for (const auto* number : fresh.at(group)) add_number(*number, parameter.name);
      }
      at = checked_add(at, ceil_div(element_count(parameter.shape), count));
    }
  }

  /// `slack`: how many elements more than needed may be padding, and one more.
  void judge_length(const DeepspeedRows& rows, std::size_t group, std::int64_t needed,
                    std::int64_t there, std::int64_t slack) {
    if (there < needed) {
      if (!told_.insert({rows.part->file.mp, group}).second) return;
      say(found_at(Code::shape_or_dtype, rows,
                   fmt::format("param_shapes of group {} has {} elements, the partitions hold {}",
                               group, needed, there)));
    } else if (there - needed >= slack) {
      if (!told_.insert({rows.part->file.mp, group}).second) return;
      say(found_at(Code::padding, rows,
                   fmt::format("{} elements of group {} lie behind the last parameter of "
                               "param_shapes, expected fewer than {} of padding",
                               there - needed, group, slack)));
    }
  }

  /// The part of each cut that lies in the row, whose first element is number `start`.
  void add_cuts(const DeepspeedRows::Row& row, const std::vector<Cut>& cuts, std::int64_t start,
                const Target& to) {
    const std::int64_t end = checked_add(start, row.tensor.shape[0]);
    const auto first = std::ranges::partition_point(
        cuts, [&](const Cut& cut) { return cut.at + cut.count <= start; });
    for (auto cut = first; cut != cuts.end() && cut->at < end; ++cut) {
      const std::int64_t from = std::max(start, cut->at);
      const std::int64_t to_element = std::min(end, cut->at + cut->count);
      add_record(row, from - start, cut->parameter, cut->begin + (from - cut->at),
                 to_element - from, to);
    }
  }

  void add_record(const DeepspeedRows::Row& row, std::int64_t at, std::size_t parameter,
                  std::int64_t begin, std::int64_t count, const Target& to) {
    const Candidate& known = (*to.parameters)[parameter];
    const std::string name = to.names[parameter] + row.suffix;
    if (!budget_.take(name, state_)) return;
    Record record = record_of(name, row.tensor, to.rank);
    record.shape = {count};
    record.piece.offset = checked_add(record.piece.offset, byte_size(record.dtype, at));
    std::ranges::move(placed(std::move(record), begin, known.shape, to.place),
                      std::back_inserter(state_.records));
  }

  /// Numbers of a flat group are the same on all ranks that share it: the first one's are read.
  bool is_new(const DeepspeedRows::Number& number, std::int64_t expert, const DeepspeedRows& rows) {
    const std::int64_t mp = rows.part->file.mp;
    steps_.note(*rows.part,
                fmt::format("group {} of mp_rank_{:02}: {}", number.group, mp, number.suffix),
                number.value);
    return numbers_.emplace(mp, number.group, expert, number.suffix).second;
  }

  void add_number(const DeepspeedRows::Number& number, const std::string& parameter) {
    std::string name = parameter + number.suffix;
    if (!budget_.take(name, state_) || !facts_.insert(name).second) return;
    const FactUse use = use_of(name);
    state_.facts.push_back({std::move(name), number.value, use, number.where});
  }

  const DeepspeedTag& tag_;
  DeepspeedBudget& budget_;
  DeepspeedSteps& steps_;
  State& state_;
  std::vector<DeepspeedRows> all_;
  std::map<std::int64_t, std::vector<std::int64_t>> parts_;  ///< by MM and group
  std::set<std::pair<std::int64_t, std::size_t>> told_;
  /// By MM, group, expert-parallel rank and suffix.
  std::set<std::tuple<std::int64_t, std::size_t, std::int64_t, std::string>> numbers_;
  NameSet facts_;
};

/// A parameter that several pipeline stages hold is cut at other places on each: pieces are cut
/// where those of any stage are, so that replicas are of one extent.
void cut_alike(DeepspeedBudget& budget, State& state) {
  std::vector<Record>& records = state.records;
  NameMap<std::set<std::int64_t>> bounds;
  for (const Record& record : records) {
    if (!record.flat) continue;
    auto& at = bounds[record.identity.name];
    at.insert({record.flat->begin, record.flat->begin + record.shape[0]});
  }
  std::vector<Record> cut;
  for (Record& record : records) {
    if (!record.flat) {
      cut.push_back(std::move(record));
      continue;
    }
    const auto& at = bounds.at(record.identity.name);
    const std::int64_t begin = record.flat->begin;
    const std::int64_t end = begin + record.shape[0];
    for (auto one = at.find(begin); *one != end; ++one) {
      if (*one != begin && !budget.take(record.identity.name, state)) break;
      Record& part = cut.emplace_back(record);
      part.flat->begin = *one;
      part.shape = {*std::next(one) - *one};
      part.piece.offset = checked_add(part.piece.offset, byte_size(part.dtype, *one - begin));
    }
  }
  records = std::move(cut);
}

}  // namespace

void read_zero(const DeepspeedTag& tag, DeepspeedBudget& budget, DeepspeedSteps& steps,
               State& state) {
  Reader(tag, budget, steps, state).read();
  if (tag.ranks.pp > 1) cut_alike(budget, state);
}

}  // namespace ttcheck::formats
