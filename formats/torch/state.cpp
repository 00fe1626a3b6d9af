// SPDX-License-Identifier: Apache-2.0
// One walk splits the object: the first root container of a known name with a tensor in it is the
// model, whose names begin inside it; optimizers come last, as they need the model's parameters
// in order; the rest keeps its path. Prefixes of wrappers are cut wherever they stand, `module.`
// only where all of the model's names have it. Then tensors become records, and what is no tensor
// facts. Sparse, nested and quantised tensors are the arrays that they are stored as; distributed
// ones are the rank's parts where the caller reads those, and else left out. A second tensor of
// one path gets a number and a finding. What fails fails alone: it is left out, counted, and
// named, all tensors of a pickle.dump in one finding. NumPy arrays are records only of a plain
// file that has no tensors. All walks share one budget, and what is cut short is said.

#include "formats/torch/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <tuple>

#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/arrays.hpp"
#include "formats/torch/fact_adder.hpp"
#include "formats/torch/optimizer.hpp"
#include "formats/torch/optimizer_search.hpp"
#include "formats/torch/parts.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 4> kContainers = {"model", "module", "state_dict",
                                                         "model_state_dict"};
constexpr std::array<std::string_view, 3> kWrappers = {"_orig_mod.", "_fsdp_wrapped_module.",
                                                       "_checkpoint_wrapped_module."};
constexpr std::string_view kParallel = "module.";

/// Buffers that no optimizer holds, by the last part of their names.
constexpr std::array<std::string_view, 4> kBuffers = {"running_mean", "running_var",
                                                      "num_batches_tracked", "inv_freq"};

class Reader {
 public:
  Reader(const TorchFile& file, const TorchPart& part)
      : file_(file), part_(part), budget_(file.pickle()) {
    state_.defined_order = true;  // a dict keeps the order in which it was filled
    state_.findings = file.findings();
    state_.bytes_unclaimed = file.unclaimed();
  }

  State read() {
    collect();
    if (part_.role == TorchPart::Role::extra) tensors_to_facts();
    for (const Leaf& leaf : model_.tensors) add_record(leaf);
    for (const Leaf& leaf : rest_.tensors) add_record(leaf);
    note_parts();
    note_dumped();
    if (part_.role == TorchPart::Role::whole && state_.records.empty() && state_.unreadable == 0) {
      for (Leaves* leaves : {&model_, &rest_}) arrays_to_records(leaves->others, state_);
    }
    add_facts(model_.others);
    add_facts(rest_.others);
    if (model_.cut || rest_.cut || budget_.spent()) {
      state_.findings.push_back(beyond(
          file_.root().where(),
          "limit reached: values are nested or shared so often that not all paths were followed"));
    }
    return std::move(state_);
  }

  std::vector<Candidate> parameters() {
    collect();
    return candidates();
  }

 private:
  /// Splits the object into the model's leaves, the optimizers', and the others.
  void collect() {
    const Value root = file_.root();
    if (part_.role == TorchPart::Role::optimizer && optimizers_.is_one(root)) {
      return add_optimizers(file_, {{root, "optimizer", ""}}, part_.parameters, budget_, rest_,
                            facts_, state_);
    }
    const auto pairs = mapping(root);
    if (!pairs || TorchFile::is_tensor(root)) return add_leaves(root, "", true, budget_, model_);
    const Value container = find_container(*pairs);
    if (!container) add_plain(*pairs, {}, model_);
    if (container) {
      add_leaves(container, "", true, budget_, model_);
      add_plain(*pairs, container, rest_);
    }
    unwrap_names(model_.tensors);
    name_masters();
    if (root.is(NodeKind::object)) add_object_attributes(root);
    add_optimizers(file_, optimizers_.among(*pairs), candidates(), budget_, rest_, facts_, state_);
  }

  /// Copies of the weights in a dict called `master...` are their masters.
  void name_masters() {
    NameViewSet names;
    for (const Leaf& leaf : model_.tensors) names.insert(leaf.path);
    for (Leaf& leaf : rest_.tensors) {
      const std::size_t dot = leaf.path.find('.');
      if (dot == std::string::npos || !leaf.path.starts_with("master")) continue;
      const std::string owner = without_wrappers(leaf.path.substr(dot + 1));
      if (names.contains(owner)) leaf.path = owner + "@master";
    }
  }

  void add_object_attributes(Value root) {
    if (root.callable().is_global("collections", "OrderedDict")) return;
    for (const auto& [key, value] : attributes(root))
      add_leaves(value, path_part(key), false, budget_, rest_);
  }

  void add_plain(const std::vector<KeyValue>& pairs, Value container, Leaves& leaves) {
    for (const auto& [key, value] : pairs) {
      const bool own = container && value.id() == container.id() && is_container(key);
      if (!own && !optimizers_.are_all_of(value))
        add_leaves(value, path_part(key), false, budget_, leaves);
    }
  }

  static bool is_container(Value key) {
    return std::find(kContainers.begin(), kContainers.end(), key.text().value_or("")) !=
           kContainers.end();
  }

  /// The root container that holds the parameters: the first of the known names with a tensor in
  /// it.
  Value find_container(const std::vector<KeyValue>& pairs) {
    for (const std::string_view name : kContainers) {
      for (const auto& [key, value] : pairs) {
        if (key.text() != name || TorchFile::is_tensor(value)) continue;
        if (holds_tensor(value, budget_)) return value;
      }
    }
    return {};
  }

  static void unwrap_names(std::vector<Leaf>& leaves) {
    for (Leaf& leaf : leaves) leaf.path = without_wrappers(std::move(leaf.path));
    const bool parallel =
        !leaves.empty() && std::all_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) {
          return leaf.path.starts_with(kParallel);
        });
    for (Leaf& leaf : leaves) {
      if (parallel) leaf.path.erase(0, kParallel.size());
    }
  }

  /// The model's parameters as an optimizer counts them: each shared one once, no known buffers.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    std::set<std::tuple<std::string, std::uint64_t, Shape>> seen;
    for (const Leaf& leaf : model_.tensors) {
      if (!is_parameter(leaf.path)) continue;
      try {
        if (is_distributed(leaf.value)) {
          found.push_back({leaf.path, distributed_shape(leaf.value)});
          continue;
        }
        const TorchTensor tensor = file_.tensor(leaf.value);
        if (!tensor.opaque.empty() || is_exact(tensor.dtype)) continue;
        if (!seen.emplace(tensor.storage, tensor.piece.offset, tensor.shape).second) continue;
        found.push_back({leaf.path, tensor.shape});
      } catch (const Error&) {
        continue;  // said when its record is made
      }
    }
    return found;
  }

  void add_record(const Leaf& leaf) {
    try {
      if (TorchFile::is_dumped(leaf.value)) {
        if (dumped_++ == 0) first_dumped_ = leaf;
        ++state_.unreadable;
        return;
      }
      if (is_distributed(leaf.value)) return add_parts(leaf);
      if (const auto parts = stored_parts(leaf)) return add_stored(leaf, *parts);
      const TorchTensor tensor = file_.tensor(leaf.value);
      if (!tensor.opaque.empty()) return leave_out(leaf, tensor.opaque);
      Record record = record_of(unique_name(leaf), tensor, part_.rank);
      note_expanded(record, leaf.value);
      state_.records.push_back(std::move(record));
    } catch (const Error& error) {
      state_.findings.push_back(unreadable(error, leaf.path));
      ++state_.unreadable;
    }
  }

  /// One finding for all tensors whose bytes are within the pickle.
  void note_dumped() {
    if (dumped_ == 0) return;
    Finding finding = unreadable(
        Error::unable(fmt::format("was written by pickle.dump, not torch.save, which puts the "
                                  "values of a tensor into an archive of its own: {} tensor{} not "
                                  "read; torch.save the same object",
                                  dumped_, dumped_ == 1 ? " is" : "s are"),
                      first_dumped_.value.where()));
    state_.findings.push_back(std::move(finding));
  }

  void leave_out(const Leaf& leaf, std::string_view what) {
    Finding finding =
        damaged(leaf.value.where(),
                fmt::format("{} is a {}, which is listed but not compared", leaf.path, what));
    finding.severity = Severity::warning;
    finding.tensor = leaf.path;
    state_.findings.push_back(std::move(finding));
    ++state_.unreadable;
  }

  /// A rank's parts of a distributed tensor; of an empty one no shard's shape is trusted.
  void add_parts(const Leaf& leaf) {
    if (part_.distributed == nullptr) {
      return leave_out(leaf, "rank's part of a distributed tensor");
    }
    const DistributedTensor whole = part_.distributed->read(leaf.value);
    const std::string name = unique_name(leaf);
    std::vector<Record> records;
    for (const DistributedTensor::Part& held : whole.parts) {
      const TorchTensor tensor = file_.tensor(held.tensor);
      if (!tensor.opaque.empty()) return leave_out(leaf, tensor.opaque);
      Record& record = records.emplace_back(record_of(name, tensor, part_.rank));
      record.logical = whole.shape;
      if (whole.boxed) {
        if (held.size != tensor.shape) {
          throw Error("a shard's tensor has another shape than its box", held.tensor.where());
        }
        record.box_lo = held.lo;
        continue;
      }
      record.placement = whole.placement;
      record.at = whole.at;
      if (tensor.shape.size() != whole.shape.size() && element_count(tensor.shape) == 0) {
        record.shape = empty_shard(whole);
      }
    }
    std::ranges::move(records, std::back_inserter(state_.records));
  }

  /// The arrays that a sparse, nested or quantised tensor is stored as.
  void add_stored(const Leaf& leaf, const StoredParts& parts) {
    std::vector<Record> records;
    for (const Leaf& array : parts.arrays) {
      const TorchTensor tensor = file_.tensor(array.value);
      if (!tensor.opaque.empty()) return leave_out(leaf, tensor.opaque);
      records.push_back(record_of(array.path, tensor, part_.rank));
    }
    if (parts.stored) {
      const TorchTensor tensor = file_.tensor(parts.stored->value, true);
      if (!tensor.opaque.empty()) return leave_out(leaf, tensor.opaque);
      records.push_back(record_of(parts.stored->path, tensor, part_.rank));
    }
    for (Record& record : records) {
      record.identity.name = unique_name({record.identity.name, leaf.value});
      state_.records.push_back(std::move(record));
    }
    for (const Leaf& fact : parts.facts) facts_.add(fact);
    ++in_parts_;
  }

  void note_parts() {
    if (in_parts_ == 0) return;
    state_.findings.push_back(
        remark(file_.root().where(),
               fmt::format("{} tensors are sparse, nested, quantised or without data; they are "
                           "compared by what they are stored as (@values, @int_repr...)",
                           in_parts_)));
  }

  /// Older writers keep a rank's empty shard as a one-dimensional tensor.
  static Shape empty_shard(const DistributedTensor& whole) {
    Shape shape = whole.shape;
    for (std::size_t d = 0; whole.placement && d < shape.size(); ++d) {
      if (!whole.placement->dims[d].shards.empty()) {
        shape[d] = 0;
        break;
      }
    }
    return shape;
  }

  void tensors_to_facts() {
    for (Leaves* leaves : {&model_, &rest_}) {
      for (const Leaf& leaf : leaves->tensors) {
        if (!facts_.add_tensor(leaf)) break;
      }
      leaves->tensors.clear();
    }
  }

  void note_expanded(const Record& record, Value value) {
    const std::vector<Cell>& cells = record.piece.cells;
    if (cells.empty() || !repeats(cells.front())) return;
    Finding finding = remark(value.where(),
                             fmt::format("{} is expanded: strides of 0 say elements of its storage "
                                         "more than once",
                                         record.identity.name));
    finding.tensor = record.identity.name;
    state_.findings.push_back(std::move(finding));
  }

  static bool repeats(const Cell& cell) {
    for (std::size_t d = 0; d < cell.strides.size(); ++d) {
      if (cell.strides[d] == 0 && cell.box.size[d] > 1) return true;
    }
    return false;
  }

  std::string unique_name(const Leaf& leaf) {
    const auto [first, fresh] = names_.try_emplace(leaf.path, 2);
    if (fresh) return leaf.path;
    for (int& n = first->second;;) {
      const std::string name = fmt::format("{}#{}", leaf.path, n++);
      if (!names_.try_emplace(name, 2).second) continue;
      Finding finding =
          odd(leaf.value.where(),
              fmt::format("two tensors have the path {}; this one is {} here", leaf.path, name),
              Code::name_mapping);
      finding.tensor = name;
      state_.findings.push_back(std::move(finding));
      return name;
    }
  }

  void add_facts(const std::vector<Leaf>& leaves) {
    for (const Leaf& leaf : leaves) {
      if (!facts_.add(leaf)) return;
    }
  }

  const TorchFile& file_;
  const TorchPart& part_;
  WalkBudget budget_;
  OptimizerSearch optimizers_{budget_};
  State state_;
  FactAdder facts_{file_, state_};
  std::int64_t in_parts_ = 0;  ///< tensors that are no plain arrays
  std::int64_t dumped_ = 0;    ///< tensors by pickle.dump
  Leaf first_dumped_;
  Leaves model_, rest_;
  NameMap<int> names_;  ///< with the number that the next namesake may get
};

}  // namespace

std::string without_wrappers(std::string name) {
  for (const std::string_view wrapper : kWrappers) {
    if (name.find(wrapper) == std::string::npos) continue;
    std::string bare;
    for (std::string_view rest = name; !rest.empty();) {
      const bool starts = bare.empty() || bare.back() == '.';
      const std::size_t skipped = starts && rest.starts_with(wrapper) ? wrapper.size() : 0;
      if (skipped == 0) bare += rest.front();
      rest.remove_prefix(std::max<std::size_t>(skipped, 1));
    }
    name = std::move(bare);
  }
  return name;
}

State torch_state(const TorchFile& file, const TorchPart& part) {
  return Reader(file, part).read();
}

std::vector<Candidate> torch_parameters(const TorchFile& file) {
  return Reader(file, TorchPart()).parameters();
}

bool is_parameter(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::find(kBuffers.begin(), kBuffers.end(), last) == kBuffers.end();
}

bool is_root_container(std::string_view name) {
  return std::find(kContainers.begin(), kContainers.end(), name) != kContainers.end();
}

}  // namespace ttcheck::formats
