// SPDX-License-Identifier: Apache-2.0
// No file states all counts of ranks. The data-parallel count is the most that `dp_world_size`,
// `partition_count` and the spread of experts say; names of files count only where no model file
// can be read. The MM count is the most of `mp_world_size` and the names. It is tensor-parallel
// ranks times stages, split by the `tp_degree` that is stated, else by the tensor ranks of layer
// files, else all of it is tensor-parallel. A count above the stated one is a finding, more than
// 2^20 ranks an Error.
//
// The passes need one another: the counts come from all files, rules are checked against counts
// and shapes, and only then can it be said which files are strangers beyond the count, exchanged
// (the archive keeps the name that it was written under), unreadable or missing. An optimizer
// file that cannot be read costs its rank's share alone. Of two files of one place the first is
// used.

#include "formats/deepspeed/open_tag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/experts.hpp"
#include "formats/deepspeed/missing_files.hpp"
#include "formats/deepspeed/parameters_from_slices.hpp"
#include "formats/readers/beside.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxWorld = std::int64_t{1} << 20;

/// A count of ranks that a file states; 1 where it states none that can be.
std::int64_t ranks_stated(Value dict, std::string_view key) {
  const std::int64_t count = item_of(dict, key).integer().value_or(1);
  return count < 1 || count > kMaxWorld ? 1 : count;
}

class Opener {
 public:
  Opener(const Probe& probe, bool merged) : probe_(probe), tag_(std::make_shared<DeepspeedTag>()) {
    tag_->given = probe.root.given();
    tag_->merged = merged;
  }

  std::shared_ptr<DeepspeedTag> open() {
    open_files();
    for (const DeepspeedPart* part : tag_->of(DeepspeedKind::model)) read_model(*part);
    count_ranks();
    list_parameters(*tag_);
    check_rules();
    leave_out_strangers();
    note_exchanged();
    note_unread();
    find_missing(*tag_);
    account();
    return std::move(tag_);
  }

 private:
  void open_files() {
    std::optional<Error> last;
    for (DeepspeedFile& file : deepspeed_files(probe_.names)) {
      const bool twice = !tag_->parts.empty() && same_place(tag_->parts.back().file, file);
      if (twice) {
        say(found(Code::overlap,
                  fmt::format("{} is of the same rank as {}, which is used", file.path,
                              tag_->parts.back().file.path),
                  where(file)));
        ++tag_->unreadable;
        continue;
      }
      DeepspeedPart& part = tag_->parts.emplace_back();
      part.file = std::move(file);
      try {
        part.torch = std::make_unique<TorchFile>(read_torch(probe_.root.file(part.file.path)));
        part.budget = std::make_unique<WalkBudget>(part.torch->pickle());
        if (const auto& fault = part.torch->pickle().fault()) throw Error(*fault);
      } catch (const Error& error) {
        part.torch.reset();
        last = error.at(where(part.file));
        errors_.emplace(&part - tag_->parts.data(), *last);
      }
    }
    const bool any =
        std::ranges::any_of(tag_->parts, [](const auto& part) { return part.torch != nullptr; });
    if (!any && last) throw last->saying("none of its files can be read: " + last->message());
  }

  void read_model(const DeepspeedPart& part) {
    const Value root = part.torch->root();
    const auto take = [&](std::string_view key, std::int64_t& most, bool& stated) {
      most = std::max(most, ranks_stated(root, key));
      stated = stated || item_of(root, key).integer();
    };
    take("dp_world_size", tag_->ranks.dp, dp_stated_);
    take("mp_world_size", mp_, mp_stated_);
    const Value degrees = item_of(root, "checkpoint_parallel_dimensions");
    tp_stated_ = std::max(tp_stated_, ranks_stated(degrees, "tp_degree"));
    degrees_ = degrees_ || mapping(degrees);
    tag_->autoep = tag_->autoep || cuts_experts(root);
    const Value module = item_of(root, "module");
    tag_->pipeline = tag_->pipeline || (module && module.is_none());
    try {
      if (!tag_->rules) {
        tag_->rules = DeepspeedRules::read(root, *part.budget, where(part.file), tag_->findings);
      }
      if (tag_->parameters.contains(part.file.mp)) return;
      tag_->parameters.emplace(part.file.mp, parameters_of(root, *part.budget));
    } catch (const Error& error) {
      say(unreadable(error.at(where(part.file))));
      ++tag_->unreadable;
    }
  }

  /// AutoEP's experts under ZeRO 3 (deepspeed/checkpoint/autoep_zero3_metadata.py).
  static bool cuts_experts(Value root) {
    for (const std::string_view key : {"ds_autoep_layers", "autoep_layers"}) {
      const Value layers = item_of(root, key);
      std::vector<Value> entries = sequence(layers).value_or(std::vector<Value>());
      for (const auto& [name, entry] : mapping(layers).value_or(std::vector<KeyValue>())) {
        entries.push_back(entry);
      }
      const bool any = std::ranges::any_of(entries, [](const Value& entry) {
        return item_of(entry, "checkpoint_format").text() == "zero3_partitioned";
      });
      if (any) return true;
    }
    return false;
  }

  void check_rules() {
    if (!tag_->rules) return;
    DeepspeedPartShapes shapes;
    for (const auto& [mp, known] : tag_->parameters) {
      for (auto& [name, shape] : known.shapes()) shapes[name].emplace(mp % tag_->ranks.tp, shape);
    }
    tag_->rules->check(shapes, tag_->ranks.tp, {tag_->given, {}, {}}, tag_->findings);
  }

  /// Only as many ranks as the files state or are.
  void count_ranks() {
    DeepspeedRanks& ranks = tag_->ranks;
    const std::int64_t dp = ranks.dp, mp = mp_;
    std::int64_t tensor = 1;
    for (const DeepspeedPart& part : tag_->parts) {
      if (part.file.kind == DeepspeedKind::layer) {
        tensor = std::max(tensor, part.file.mp + 1);
        tag_->pipeline = true;
        continue;
      }
      mp_ = std::max(mp_, part.file.mp + 1);
      count_partitions(part);
    }
    if (tag_->of(DeepspeedKind::model).empty()) {
      for (const DeepspeedPart& part : tag_->parts) {
        if (part.file.kind != DeepspeedKind::expert_optimizer)
          ranks.dp = std::max(ranks.dp, part.file.dp.value_or(0) + 1);
      }
    }
    if (dp_stated_ && ranks.dp > dp) say_more("dp_world_size", dp, ranks.dp);
    if (mp_stated_ && mp_ > mp) say_more("mp_world_size", mp, mp_);
    ranks.tp = degrees_ ? tp_stated_ : tag_->pipeline ? tensor : mp_;
    if (ranks.tp > mp_ || mp_ % ranks.tp != 0) ranks.tp = tag_->pipeline ? 1 : mp_;
    ranks.pp = mp_ / ranks.tp;
    if (checked_mul(mp_, ranks.dp) > kMaxWorld) {
      throw Error(fmt::format("{} x {} ranks are more than can be", mp_, ranks.dp),
                  {tag_->given, {}, {}});
    }
  }

  void say_more(std::string_view key, std::int64_t stated, std::int64_t there) {
    say(found(
        Code::shape_or_dtype,
        fmt::format("{} is {} in the model_states files; optimizers and names of files are of "
                    "{} ranks",
                    key, stated, there),
        {tag_->given, {}, {}}));
  }

  /// What an optimizer says of the ranks it is cut over; experts have fewer each.
  void count_partitions(const DeepspeedPart& part) {
    DeepspeedRanks& ranks = tag_->ranks;
    const bool spread = part.file.kind == DeepspeedKind::expert_optimizer;
    if (spread) ranks.ep = std::max(ranks.ep, *part.file.dp + 1);
    if (part.torch != nullptr && (spread || part.file.kind == DeepspeedKind::model)) {
      const auto stated = expert_ranks_of(item_of(part.torch->root(), "optimizer"));
      ranks.ep = std::max(ranks.ep, stated.value_or(1));
    }
    ranks.dp = std::max(ranks.dp, ranks.ep);
    if (part.file.kind != DeepspeedKind::optimizer || part.torch == nullptr) return;
    const Value count =
        item_of(item_of(part.torch->root(), "optimizer_state_dict"), "partition_count");
    std::vector<Value> counts = sequence(count).value_or(std::vector<Value>{count});
    for (const Value& one : counts) {
      const std::int64_t n = one.integer().value_or(1);
      if (n > kMaxWorld) continue;
      ranks.dp = std::max(ranks.dp, n);
      if (n >= 1 && counts.size() > 1 && ranks.dp % n == 0) {
        const std::int64_t fold = ranks.dp / n;
        tag_->several_ep = tag_->several_ep || (fold > 1 && ranks.ep > 1 && ranks.ep != fold);
        ranks.ep = std::max(ranks.ep, fold);
      }
    }
  }

  void leave_out_strangers() {
    std::set<std::size_t> out;
    for (std::size_t i = 0; i < tag_->parts.size(); ++i) {
      const DeepspeedFile& file = tag_->parts[i].file;
      if (file.kind == DeepspeedKind::expert_optimizer || !file.dp) continue;
      if (*file.dp < tag_->ranks.dp) continue;
      say(found(Code::unexpected,
                fmt::format("{} is of data-parallel rank {}, of which there are {}; it is left out",
                            file.path, *file.dp, tag_->ranks.dp),
                where(file)));
      errors_.erase(static_cast<std::ptrdiff_t>(i));
      tag_->parts[i].torch.reset();
      ++tag_->unreadable;
    }
  }

  void note_exchanged() {
    for (DeepspeedPart& part : tag_->parts) {
      if (part.torch == nullptr) continue;
      const auto written = parse_deepspeed_name(part.torch->saved_as() + ".pt");
      const DeepspeedFile& file = part.file;
      if (!written || written->kind != file.kind || same_place(*written, file)) continue;
      part.exchanged = true;
      Finding finding = exchanged(file.path, written->path, where(file));
      const bool of_rank = file.kind != DeepspeedKind::layer && file.kind != DeepspeedKind::expert;
      if (of_rank) finding.ranks = {tag_->ranks.rank(file.dp.value_or(0), file.mp)};
      say(std::move(finding));
    }
  }

  /// An optimizer file that cannot be read leaves holes where its rank's share is.
  void note_unread() {
    for (const auto& [i, error] : errors_) {
      const DeepspeedFile& file = tag_->parts[static_cast<std::size_t>(i)].file;
      ++tag_->unreadable;
      if (file.kind == DeepspeedKind::optimizer) {
        tag_->unreadable_ranks.emplace(tag_->ranks.rank(*file.dp, file.mp), error);
      } else {
        say(unreadable(error));
      }
    }
  }

  void account() {
    const Beside others = beside(probe_, [&](const Entry& entry) {
      const bool universal = entry.path == "zero" && entry.kind == EntryKind::directory;
      if (entry.path.ends_with(".py")) {
        say(remark(where(entry.path), "code beside the checkpoint, not run"));
        return true;
      }
      return universal || parse_deepspeed_name(entry.path);
    });
    tag_->unclaimed = others.rest_bytes;
    tag_->named = named_states(others);
    for (Finding& finding : rest_beside(others, probe_.root)) say(std::move(finding));
  }

  Where where(const DeepspeedFile& file) const { return where(file.path); }
  Where where(const std::string& path) const { return {tag_->given + "/" + path, {}, {}}; }

  void say(Finding finding) { tag_->findings.push_back(std::move(finding)); }

  const Probe& probe_;
  std::shared_ptr<DeepspeedTag> tag_;
  std::map<std::ptrdiff_t, Error> errors_;  ///< by place in parts
  std::int64_t mp_ = 1, tp_stated_ = 1;
  bool degrees_ = false, dp_stated_ = false, mp_stated_ = false;
};

}  // namespace

std::shared_ptr<DeepspeedTag> open_deepspeed(const Probe& probe) {
  return Opener(probe, false).open();
}

std::shared_ptr<DeepspeedTag> open_universal_tag(const Probe& probe) {
  return Opener(probe, true).open();
}

}  // namespace ttcheck::formats
