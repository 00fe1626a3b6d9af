// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/assemble/lengths.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

/// The coordinate of a record along a plan's axis.
std::int64_t coordinate_of(const Record& record, const std::string& axis) {
  const std::int64_t at = coordinate(record.at, axis);
  if (at < 0) throw Error(fmt::format("negative coordinate along {}", axis));
  return at;
}

/// Builds one plan; its parts share the line, the records and the context.
class Planner {
 public:
  Planner(const Placement& placement, std::vector<Member>& members, const AssembleContext& context)
      : placement_(placement), members_(members), context_(context) {}

  Plan make() {
    const Record& first = *members_.front().record;
    plan_.stated = first.logical.has_value();
    plan_.flattened = placement_.flat;
    expand_dims(first);
    for (std::size_t d = 0; d < specs_.size(); ++d) plan_.dims.push_back(dim_plan(*specs_[d]));
    for (const ShardSpec& spec : placement_.flat_shards) {
      add_shard(spec, plan_.flat);
      if (spec.align) plan_.flat_align = resolve(*spec.align);
    }
    for (const auto& [axis, how] : placement_.partial) reduce_over(axis, how);
    for (Member& member : members_) {
      for (const AxisUse& axis : plan_.axes) {
        member.at.push_back(coordinate_of(*member.record, axis.name));
      }
    }
    for (std::size_t d = 0; d < specs_.size(); ++d) settle(d);
    for (const DimPlan& dim : plan_.dims) {
      plan_.shape.push_back(dim.length);
      plan_.least.push_back(dim.least);
    }
    if (flat_held_) plan_.least = {*flat_held_};
    if (plan_.flattened) total_up();
    return std::move(plan_);
  }

 private:
  /// One spec a dimension: `*` stands for as many as are left.
  void expand_dims(const Record& first) {
    static const DimSpec kAny{.name = "*", .parts = {}, .shards = {}};
    if (placement_.flat) flat_shape(first);
    const std::size_t rank = placement_.flat ? logical_.size() : first.shape.size();
    if (placement_.flat && !placement_.flat_of) {
      specs_.assign(rank, &kAny);
      return;
    }
    const auto& dims = placement_.dims;
    const auto star =
        std::find_if(dims.begin(), dims.end(), [](const DimSpec& dim) { return dim.name == "*"; });
    const std::size_t named = dims.size() - (star != dims.end() ? 1 : 0);
    if (star == dims.end() ? rank != named : rank < named) {
      throw Error(fmt::format("the line has {} dimensions, the array has {}", named, rank));
    }
    for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
      specs_.insert(specs_.end(), dim == star ? rank - named : 1, &*dim);
    }
  }

  /// The logical shape of a flattened tensor; one dimension where none is stated.
  void flat_shape(const Record& first) {
    const auto trimmed = trimmed_total();
    if (first.logical) {
      logical_ = *first.logical;
      if (trimmed && !placement_.flat_of && element_count(logical_) != *trimmed) {
        throw Error(
            fmt::format("pad={} and a shape of {} elements", *trimmed, element_count(logical_)));
      }
    } else if (placement_.flat_of) {
      throw Error("flat ... of needs the logical shape, which is not stated");
    } else {
      logical_ = {trimmed ? *trimmed : flat_total()};
    }
  }

  /// The elements that `pad=` leaves of a flattened tensor.
  std::optional<std::int64_t> trimmed_total() const {
    for (const ShardSpec& spec : placement_.flat_shards) {
      if (spec.pad) return resolve(*spec.pad);
    }
    return std::nullopt;
  }

  /// Elements of all ranks; the most that they can hold where some are missing.
  std::int64_t flat_total() {
    Lengths lengths;
    std::int64_t places = 1;
    for (const ShardSpec& spec : placement_.flat_shards) {
      places = checked_mul(places, plan_.axes[axis_index(spec.axis)].n);
    }
    for (const Member& member : members_) {
      Extents at;
      for (const ShardSpec& spec : placement_.flat_shards) {
        at.push_back(coordinate_of(*member.record, axis_name(spec.axis)));
      }
      lengths.emplace(std::move(at), element_count(member.record->shape));
    }
    const Together all = together(lengths);
    if (std::ssize(lengths) == places) return all.sum;
    flat_held_ = all.sum;
    return checked_mul(places, all.longest);
  }

  struct Together {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
  };

  static Together together(const Lengths& lengths) {
    Together all;
    for (const auto& [at, length] : lengths) {
      all.sum = checked_add(all.sum, length);
      all.longest = std::max(all.longest, length);
    }
    return all;
  }

  /// Elements that the ranks of one flattened part hold together; the most they can where some are
  /// missing.
  void total_up() {
    for (const DimPlan& dim : plan_.dims) {
      for (const Shard& shard : dim.shards) plan_.flat_group.push_back(shard.axis);
    }
    std::int64_t places = 1;
    for (const Shard& shard : plan_.flat) places = checked_mul(places, plan_.axes[shard.axis].n);
    std::map<Extents, Lengths> held;
    for (const Member& member : members_) {
      Extents group;
      Extents at;
      for (const std::size_t axis : plan_.flat_group) group.push_back(member.at[axis]);
      for (const Shard& shard : plan_.flat) at.push_back(member.at[shard.axis]);
      held[group].emplace(std::move(at), element_count(member.record->shape));
    }
    for (const auto& [group, lengths] : held) {
      const Together all = together(lengths);
      plan_.flat_totals[group] =
          std::ssize(lengths) == places ? all.sum : checked_mul(places, all.longest);
    }
  }

  DimPlan dim_plan(const DimSpec& spec) {
    DimPlan dim;
    for (const ShardSpec& shard : spec.shards) {
      if (shard.partial != Reduce::none) {
        reduce_over(shard.axis, shard.partial);
      } else {
        add_shard(shard, dim.shards);
      }
    }
    return dim;
  }

  void settle(std::size_t d) {
    DimPlan& dim = plan_.dims[d];
    Stated stated = stated_of(*specs_[d], d);
    Lengths lengths;
    if (placement_.flat) {
      dim.length = dim.stored = logical_[d];
      stated.length = logical_[d];
    } else {
      for (const Member& member : members_) {
        if (member.record->shape.size() != specs_.size()) continue;
        Extents at;
        for (const Shard& shard : dim.shards) at.push_back(member.at[shard.axis]);
        lengths.emplace(std::move(at), member.record->shape[d]);
      }
    }
    stated.others_hold_none = is_of_batch(dim, plan_.axes) && are_all_calls();
    settle_length(dim, plan_.axes, lengths, stated);
    if (specs_[d]->name == "1" && dim.length != 1) {
      throw Error(fmt::format("dimension {} is written as 1 and has {}", d, dim.length));
    }
  }

  bool are_all_calls() const {
    std::vector<const Record*> records;
    for (const Member& member : members_) records.push_back(member.record);
    return context_.calls != nullptr && context_.calls->are_all(records);
  }

  Stated stated_of(const DimSpec& spec, std::size_t d) const {
    Stated stated;
    const Record& first = *members_.front().record;
    if (first.logical) {
      if (first.logical->size() != specs_.size()) {
        throw Error(fmt::format("the stated shape has {} dimensions, the line has {}",
                                first.logical->size(), specs_.size()));
      }
      stated.length = (*first.logical)[d];
    }
    for (const ShardSpec& shard : spec.shards) {
      if (shard.pad) {
        const std::int64_t pad = resolve(*shard.pad);
        if (stated.length && *stated.length != pad) {
          throw Error(fmt::format("pad={} and the stated length {} differ", pad, *stated.length));
        }
        stated.length = pad;
      }
      if (shard.align) stated.align = resolve(*shard.align);
    }
    for (const PartSpec& part : spec.parts) {
      stated.parts.push_back(part.size ? std::optional(resolve(*part.size)) : std::nullopt);
    }
    return stated;
  }

  std::int64_t resolve(const Size& size) const {
    std::int64_t value = 0;
    if (const auto* number = std::get_if<std::int64_t>(&size)) {
      value = *number;
    } else {
      const auto& name = std::get<std::string>(size);
      const auto found = context_.numbers.find(name);
      if (found == context_.numbers.end()) {
        throw Error(
            fmt::format("the size {} is no number of [model] nor of the run's facts", name));
      }
      value = found->second;
    }
    if (value <= 0) throw Error(fmt::format("a size must be positive, this is {}", value));
    return value;
  }

  /// The mesh axis that a word means in this line.
  std::string axis_name(const std::string& word) const {
    for (const auto& [from, to] : placement_.renamed) {
      if (from == word) return to;
    }
    return word;
  }

  std::size_t axis_index(const std::string& word) {
    AxisUse axis{.name = axis_name(word), .n = 1};
    for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
      if (plan_.axes[i].name == axis.name) return i;
    }
    axis.n = axis.name == "mb" ? context_.microbatches : context_.mesh.size_of(axis.name);
    for (const Member& member : members_) {
      axis.n =
          std::max(axis.n, checked_add<std::int64_t>(coordinate_of(*member.record, axis.name), 1));
    }
    plan_.axes.push_back(std::move(axis));
    return plan_.axes.size() - 1;
  }

  void add_shard(const ShardSpec& spec, std::vector<Shard>& shards) {
    shards.push_back({.axis = axis_index(spec.axis), .spec = spec});
  }

  void reduce_over(const std::string& word, Reduce how) {
    const std::size_t axis = axis_index(word);
    if (plan_.axes[axis].n == 1) return;
    const bool first = plan_.reduced.empty();
    if (!first && (plan_.reduce == Reduce::max) != (how == Reduce::max)) {
      throw Error("one line reduces in two ways");
    }
    if (first || how == Reduce::avg) plan_.reduce = how;
    if (how == Reduce::avg) plan_.mean_of = checked_mul(plan_.mean_of, plan_.axes[axis].n);
    plan_.reduced.push_back(axis);
  }

  const Placement& placement_;
  std::vector<Member>& members_;
  const AssembleContext& context_;
  Plan plan_;
  Shape logical_;                          ///< under flat
  std::optional<std::int64_t> flat_held_;  ///< of a length under flat that is a guess
  std::vector<const DimSpec*> specs_;      ///< one a dimension
};

}  // namespace

Plan make_plan(const Placement& placement, std::vector<Member>& members,
               const AssembleContext& context) {
  return Planner(placement, members, context).make();
}

}  // namespace ttcheck::assemble
