// SPDX-License-Identifier: Apache-2.0
// Names and ranks of weights depend on the kind of file. A module names its weights and is of the
// rank in its file's name. A layer file names them without the layer: in front goes its number
// or, where no declared name has that, the one tie (`tied_modules.`) that declares all its
// tensors with their shapes. Its rank is the first of a stage that trains the layer. Expert files
// number experts globally, while `param_shapes` numbers each rank's from 0; an expert is of the
// first rank that trains it. Under ZeRO 3 the module holds empty tensors, which are passed over,
// and each rank has a stretch of a frozen parameter.
//
// Once all files are read, what `param_shapes` lists and no file holds is TT505, save where the
// weights lie with the optimizer alone (ZeRO 3, universal pipelines). An expert file with another
// expert's parameters (TT507) is read by the names in it, and its own expert's are looked for in
// the other files. How many ranks the experts are spread over is a number in a group's name, so
// that looking for the experts of further ranks is charged to a budget.

#include "formats/deepspeed/model_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/budget.hpp"
#include "formats/deepspeed/experts.hpp"
#include "formats/deepspeed/tp_blocks.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTied = "tied_modules.";

class Reader {
 public:
  Reader(const DeepspeedTag& tag, State& state) : tag_(tag), state_(state) {}

  std::vector<DeepspeedWeight> read() {
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) read_states(*part);
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::layer)) read_layer(*part);
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::expert)) read_expert(*part);
    find_displaced();
    find_absent();
    for (Finding& finding : findings_.take()) state_.findings.push_back(std::move(finding));
    return std::move(found_);
  }

 private:
  void read_states(const DeepspeedPart& part) {
    const Value root = part.torch->root();
    const std::int32_t rank = tag_.ranks.rank(part.file.dp.value_or(0), part.file.mp);
    Leaves leaves;
    const Value module = item_of(root, "module");
    if (module && !module.is_none()) add_leaves(module, "", true, *part.budget, leaves);
    note_cut(leaves, part);
    for (const Leaf& leaf : leaves.others) {
      state_.facts.push_back(fact_of({"module." + leaf.path, leaf.value}));
    }
    for (const Leaf& leaf : leaves.tensors) add(part, leaf.path, leaf.value, rank, leaf.path);
    read_frozen(part, rank);
    const auto known = tag_.parameters.find(part.file.mp);
    if (known == tag_.parameters.end()) return;
    for (const auto& [alias, name] : known->second.shared) {
      if (tied_.insert(alias).second) {
        state_.facts.push_back({"tied." + alias, name, FactUse::note, root.where()});
      }
    }
  }

  void add(const DeepspeedPart& part, const std::string& name, Value value, std::int32_t rank,
           const std::string& local) {
    try {
      const TorchTensor tensor = part.torch->tensor(value);
      // ZeRO 3 keeps its weights in the partitions.
      if (part.file.dp && tensor.shape == Shape{0}) return;
      if (!tensor.opaque.empty()) {
        throw Error(fmt::format("is a {}, which is not compared", tensor.opaque), value.where());
      }
      Record record = record_of(name, tensor, rank);
      const bool trained = record.kind == Kind::weight && !is_exact(record.dtype);
      std::vector<Record> records = placed(std::move(record), tag_.place_of(part));
      weights_.insert(name);
      if (trained) {
        found_.push_back({name, tensor.shape, tensor.dtype, rank, &part, tensor.piece.source,
                          tensor.piece.offset});
      }
      std::ranges::move(records, std::back_inserter(state_.records));
    } catch (const Error& error) {
      ++state_.unreadable;
      weights_.insert(name);
      findings_.add(unreadable(error, local));
    }
  }

  /// Whole in stages up to 2, where the module has them too; a rank's part in stage 3.
  void read_frozen(const DeepspeedPart& part, std::int32_t rank) {
    const Value fragments = item_of(part.torch->root(), "frozen_param_fragments");
    const auto known = tag_.parameters.find(part.file.mp);
    NameViewMap<const Candidate*> frozen;
    if (known != tag_.parameters.end()) {
      for (const Candidate& one : known->second.frozen) frozen.emplace(one.name, &one);
    }
    for (const auto& [key, value] : mapping(fragments).value_or(std::vector<KeyValue>())) {
      const std::string name = path_part(key);
      if (!TorchFile::is_tensor(value)) continue;
      if (!part.file.dp) {
        add(part, name, value, weights_.contains(name) ? kNoRank : rank, name);
        continue;
      }
      try {
        const auto parameter = frozen.find(name);
        if (parameter == frozen.end()) throw Error("no shape is stated", value.where());
        add_fragment(part, *parameter->second, row_of_elements(*part.torch, value), rank);
      } catch (const Error& error) {
        ++state_.unreadable;
        findings_.add(unreadable(error, name));
      }
    }
  }

  void add_fragment(const DeepspeedPart& part, const Candidate& parameter, const TorchTensor& row,
                    std::int32_t rank) {
    const std::int64_t all = element_count(parameter.shape);
    const std::int64_t length = ceil_div(all, tag_.ranks.dp);
    const std::int64_t begin = checked_mul(*part.file.dp, length);
    if (row.shape[0] != length) {
      findings_.add(found(Code::shape_or_dtype,
                          fmt::format("{} elements here, expected {} of {} for each of {} ranks",
                                      row.shape[0], length, all, tag_.ranks.dp),
                          row.piece.where(), parameter.name));
    }
    const std::int64_t count = std::min(row.shape[0], std::max<std::int64_t>(all - begin, 0));
    if (count <= 0) return;
    Record record = record_of(parameter.name, row, rank);
    record.shape = {count};
    std::ranges::move(placed(std::move(record), begin, parameter.shape, tag_.place_of(part)),
                      std::back_inserter(state_.records));
  }

  /// A layer's names lack its number. One that is tied to layers of other stages is called by its
  /// tie (deepspeed/runtime/pipe/module.py `tied_modules`).
  void read_layer(const DeepspeedPart& part) {
    Leaves leaves;
    add_leaves(part.torch->root(), "", true, *part.budget, leaves);
    note_cut(leaves, part);
    const std::string prefix = prefix_of(part, leaves.tensors);
    for (const Leaf& leaf : leaves.tensors) {
      const std::string name = prefix + leaf.path;
      add(part, name, leaf.value, rank_of_layer(name, part.file.mp), leaf.path);
    }
  }

  std::string prefix_of(const DeepspeedPart& part, const std::vector<Leaf>& tensors) {
    if (declared_.empty()) {
      for (const auto& [mp, known] : tag_.parameters) {
        for (const auto& [name, shape] : known.shapes()) declared_[name].insert(shape);
      }
    }
    std::string own = fmt::format("{}.", part.file.layer);
    const auto first = declared_.lower_bound(own);
    if (first != declared_.end() && first->first.starts_with(own)) return own;
    std::set<std::string> fit;
    for (auto tied = declared_.lower_bound(kTied);
         tied != declared_.end() && tied->first.starts_with(kTied); ++tied) {
      fit.insert(tied->first.substr(0, tied->first.find('.', kTied.size()) + 1));
    }
    std::erase_if(fit, [&](const std::string& tie) {
      return tensors.empty() || !std::ranges::all_of(tensors, [&](const Leaf& leaf) {
               return is_declared(part, tie + leaf.path, leaf.value);
             });
    });
    return fit.size() == 1 ? *fit.begin() : own;
  }

  bool is_declared(const DeepspeedPart& part, const std::string& name, Value value) const {
    try {
      const auto found = declared_.find(name);
      return found != declared_.end() && found->second.contains(part.torch->tensor(value).shape);
    } catch (const Error&) {
      return false;
    }
  }

  /// The first rank of the stage that trains the layer: of one that several stages share the first
  /// for its first file, the next for the next.
  std::int32_t rank_of_layer(const std::string& name, std::int64_t tensor_rank) {
    if (stages_.empty()) {
      for (const auto& [mp, known] : tag_.parameters) {
        for (const auto& group : known.groups) {
          for (const Candidate& parameter : group) {
            stages_[{parameter.name, mp % tag_.ranks.tp}].push_back(mp);
          }
        }
      }
    }
    const auto found = stages_.find({name, tensor_rank});
    if (found == stages_.end()) return kNoRank;
    std::vector<std::int64_t>& left = found->second;
    const std::int32_t rank = tag_.ranks.rank(0, left.front());
    if (left.size() > 1) left.erase(left.begin());
    return rank;
  }

  void read_expert(const DeepspeedPart& part) {
    Leaves leaves;
    add_leaves(part.torch->root(), "", true, *part.budget, leaves);
    note_cut(leaves, part);
    for (const Leaf& leaf : leaves.tensors) {
      const auto expert = parse_expert_name(leaf.path);
      if (expert && expert->number != part.file.expert && !part.exchanged &&
          exchanged_.insert(part.file.path).second) {
        findings_.add(found(Code::mixed_step,
                            fmt::format("holds expert {}, its name says {}: files of two experts "
                                        "were exchanged",
                                        expert->number, part.file.expert),
                            {tag_.path_of(part), {}, {}}, leaf.path));
      }
      if (expert && expert->number != part.file.expert) displaced_.emplace_back(&part, leaf.path);
      add(part, leaf.path, leaf.value, rank_of_expert(leaf.path, part.file.mp), leaf.path);
    }
  }

  /// Parameters of experts whose files hold another expert's, where no other file has them.
  void find_displaced() {
    std::set<std::pair<const DeepspeedPart*, std::string_view>> gone;
    for (const auto& [part, held] : displaced_) {
      const std::string name = expert_name(held, part->file.expert);
      if (!weights_.insert(name).second) continue;
      gone.emplace(part, held);
      ++state_.unreadable;
      findings_.add(found(Code::omission,
                          fmt::format("its file holds {} in its place, and no other has it", held),
                          {tag_.path_of(*part), {}, {}}, name));
    }
    std::erase_if(found_, [&](const DeepspeedWeight& weight) {
      return gone.contains({weight.part, weight.name});
    });
  }

  /// The first rank that trains the expert.
  std::int32_t rank_of_expert(const std::string& name, std::int64_t mp) {
    const auto expert = parse_expert_name(name);
    const auto known = tag_.parameters.find(mp);
    if (!expert || known == tag_.parameters.end()) return kNoRank;
    const auto [counts, fresh] = experts_.try_emplace(mp);
    if (fresh) {
      for (const auto& group : known->second.groups) counts->second.merge(count_experts(group));
    }
    const auto count = counts->second.find(expert->layer);
    if (count == counts->second.end()) return kNoRank;
    const std::int64_t ep_rank = expert->number / count->second;
    return ep_rank < tag_.ranks.dp ? tag_.ranks.rank(ep_rank, mp) : kNoRank;
  }

  void note_cut(const Leaves& leaves, const DeepspeedPart& part) {
    if (!leaves.cut) return;
    ++state_.unreadable;
    findings_.add(beyond(part.torch->root().where(),
                         "limit reached: values are nested or shared so often that not all paths "
                         "were followed"));
  }

  /// The file of a pipeline's layer that should hold a parameter, named as its fellows are, where
  /// it is not there.
  std::optional<std::string> missing_layer(std::string_view name, std::int64_t mp) const {
    const std::string_view first = name.substr(0, name.find('.'));
    const bool digits = first.find_first_not_of("0123456789") == std::string_view::npos;
    const auto layer = digits ? trailing_number(first) : std::nullopt;
    std::optional<std::string> missing;
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::layer)) {
      if (!layer || part->file.mp != mp % tag_.ranks.tp) continue;
      if (part->file.layer == *layer) return std::nullopt;
      const std::string& path = part->file.path;
      missing = fmt::format("layer_{:02}{}", *layer, path.substr(path.find('-')));
    }
    return missing;
  }

  Finding absent(const std::string& name, std::int64_t mp) const {
    const auto layer = tag_.pipeline ? missing_layer(name, mp) : std::nullopt;
    if (!layer) {
      return found(Code::omission, "param_shapes lists it, and no file holds its weight",
                   {tag_.given, {}, {}}, name);
    }
    return found(
        Code::omission,
        fmt::format("param_shapes lists it, and {}, which should hold it, is not there", *layer),
        {tag_.given + "/" + *layer, {}, {}}, name);
  }

  /// Parameters that an optimizer trains and whose weights are in no file.
  void find_absent() {
    const bool cut = std::ranges::any_of(
        tag_.of(DeepspeedKind::model), [](const auto* part) { return part->file.dp.has_value(); });
    // ds_to_universal copies no layer files: the masters are all that there is.
    const bool left = tag_.merged && tag_.pipeline &&
                      std::ranges::none_of(tag_.parts, [](const DeepspeedPart& part) {
                        return part.file.kind == DeepspeedKind::layer;
                      });
    if (cut || left) return;
    DeepspeedBudget budget(tag_, "the ranks that experts are spread over");
    for (const auto& [mp, known] : tag_.parameters) {
      for (const auto& group : known.groups) {
        const auto experts = count_experts(group);
        for (const Candidate& parameter : group) {
          const bool all = !experts.empty() && !tag_.several_ep;
          for (std::int64_t ep = 0; ep < (all ? tag_.ranks.ep : 1); ++ep) {
            const std::string name = global_expert_name(parameter.name, ep, experts);
            if (ep > 0 && !budget.take(name, state_)) break;
            if (!weights_.insert(name).second) continue;
            ++state_.unreadable;
            findings_.add(absent(name, mp));
          }
        }
      }
    }
  }

  const DeepspeedTag& tag_;
  State& state_;
  Findings findings_;
  std::vector<DeepspeedWeight> found_;
  std::set<std::string> weights_;
  std::set<std::string> tied_, exchanged_;
  std::vector<std::pair<const DeepspeedPart*, std::string>> displaced_;  ///< names in expert files
  std::map<std::string, std::set<Shape>, std::less<>> declared_;  ///< of all stages, once needed
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>>
      stages_;  ///< MMs of name, tensor rank
  std::map<std::int64_t, std::map<std::string, std::int64_t>> experts_;  ///< by MM, of each layer
};

}  // namespace

std::vector<DeepspeedWeight> read_model(const DeepspeedTag& tag, State& state) {
  return Reader(tag, state).read();
}

}  // namespace ttcheck::formats
