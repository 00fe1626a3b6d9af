// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/attributes.hpp"
#include "core/recompute/operand.hpp"

namespace ttcheck::recompute {
namespace {

constexpr std::size_t kMostMembers = 4096;

/// Ranks of one group, each with all of its own array.
using Members = std::vector<Piece>;

/// The array of a rank that holds the whole tensor as one row-major run; else nothing.
std::optional<Piece> as_run(Piece piece, const Shape& shape) {
  const Extents strides = row_major_strides(shape);
  std::int64_t start = 0;
  if (!piece.cells.empty()) {
    const Cell& cell = piece.cells.front();
    if (cell.box != whole(shape)) return std::nullopt;  // and there is no other
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] > 1 && cell.strides[d] != strides[d]) return std::nullopt;
    }
    start = cell.start;
  }
  const std::int64_t count = element_count(shape);
  piece.cells = {Cell{whole({count}), start, {1}}};
  return piece;
}

/// Does each rank have an array of its own, and nothing says how they make up one?
bool is_by_rank(const Tensor& tensor) {
  return tensor.pieces.size() == 1 && !tensor.replicas.empty();
}

/// These arrays, by rank, where each is a run.
std::optional<Members> members_of(const Tensor& tensor) {
  if (tensor.replicas.size() >= kMostMembers) return std::nullopt;
  Members members;
  const auto add = [&](const Piece& piece) {
    auto run = as_run(piece, tensor.shape);
    if (run && run->rank >= 0) members.push_back(std::move(*run));
  };
  add(tensor.pieces.front());
  std::ranges::for_each(tensor.replicas, add);
  if (members.size() != tensor.replicas.size() + 1) return std::nullopt;
  std::ranges::sort(members, {}, &Piece::rank);
  return members;
}

/// `[0, 1]`; nothing for another text.
std::optional<std::vector<std::int32_t>> ranks_in(std::string_view list) {
  if (!list.starts_with('[') || !list.ends_with(']')) return std::nullopt;
  std::vector<std::int32_t> ranks;
  for (list = list.substr(1, list.size() - 2); !list.empty();) {
    if (list.front() == ' ' || list.front() == ',') {
      list.remove_prefix(1);
      continue;
    }
    std::int32_t rank = 0;
    const auto [at, error] = std::from_chars(list.data(), list.data() + list.size(), rank);
    if (error != std::errc()) return std::nullopt;
    ranks.push_back(rank);
    list.remove_prefix(static_cast<std::size_t>(at - list.data()));
  }
  return ranks;
}

/// Groups along an axis: ranks whose other coordinates are the same.
std::vector<Members> along(std::string_view axis, const Members& members, const Mesh& mesh) {
  std::map<Coordinates, Members> groups;
  for (const Piece& piece : members) {
    if (piece.rank >= mesh.world_size()) return {};
    Coordinates others = mesh.coordinates(piece.rank);
    const auto own = others.find(axis);
    if (own == others.end()) return {};
    others.erase(own);
    groups[std::move(others)].push_back(piece);
  }
  std::vector<Members> all;
  for (auto& [others, group] : groups) all.push_back(std::move(group));
  return all;
}

std::vector<Members> groups_of(const Members& members, const TraceRecord& record,
                               const Mesh& mesh) {
  const auto stated =
      std::ranges::find(record.attrs, "group", &Attributes::Items::value_type::first);
  if (stated == record.attrs.end()) {
    const auto several = [](const Axis& axis) { return axis.size > 1; };
    const bool one_axis = std::ranges::count_if(mesh.axes, several) <= 1;
    const bool all = std::cmp_equal(members.size(), mesh.world_size());
    return one_axis && all ? std::vector<Members>{members} : std::vector<Members>{};
  }
  if (const auto axis = Attributes(record.attrs).word("group")) return along(*axis, members, mesh);
  const auto ranks = ranks_in(stated->second);  // it is the lowest rank's; others have their own
  if (!ranks) return {};
  Members group;
  for (const Piece& piece : members) {
    if (std::ranges::find(*ranks, piece.rank) != ranks->end()) group.push_back(piece);
  }
  if (group.size() != ranks->size() || group.empty()) return {};
  return {std::move(group)};
}

std::optional<Reduce> reduce_of(const TraceRecord& record) {
  const auto word = Attributes(record.attrs).word("reduce");
  if (!word || *word == "sum") return Reduce::sum;
  if (*word == "avg" || *word == "mean") return Reduce::avg;
  if (*word == "max") return Reduce::max;
  return std::nullopt;
}

/// The rank's array as `box` of a larger one; `strides` by its dimensions.
Piece at(Piece piece, Box box, Extents strides) {
  const std::int64_t start = piece.cells.front().start;
  piece.cells = {Cell{std::move(box), start, std::move(strides)}};
  return piece;
}

void set_shape(Collective& made, Shape shape) {
  made.input.shape = shape;
  made.output.shape = std::move(shape);
}

void set_copies(Tensor& tensor, const Members& members) {
  const Box all = whole(tensor.shape);
  for (const Piece& piece : members) {
    auto& to = tensor.pieces.empty() ? tensor.pieces : tensor.replicas;
    to.push_back(at(piece, all, row_major_strides(tensor.shape)));
  }
}

void set_terms(Tensor& tensor, const Members& members, Reduce reduce) {
  tensor.reduce = reduce;
  for (const Piece& piece : members) {
    tensor.terms.push_back({at(piece, whole(tensor.shape), row_major_strides(tensor.shape))});
  }
}

/// Dimension `dim` of the shape numbers the members, each of which holds its own place of it.
void set_parts(Tensor& tensor, const Members& members, std::size_t dim) {
  for (std::size_t k = 0; k < members.size(); ++k) {
    Box box = whole(tensor.shape);
    box.lo[dim] = static_cast<std::int64_t>(k);
    box.size[dim] = 1;
    const Extents strides = row_major_strides(box.size);
    tensor.pieces.push_back(at(members[k], std::move(box), strides));
  }
}

/// Lays out what each member brought (`in`) and got (`out`) by the op's name; false where that
/// does not fit.
bool lay_out(const Members& in, const Members& out, const TraceRecord& record, Collective& made) {
  const auto reduce = reduce_of(record);
  const auto n = static_cast<std::int64_t>(in.size());
  const std::int64_t brought = element_count(made.given->shape);
  const std::int64_t got = element_count(made.gotten->shape);
  if (!reduce || !std::ranges::equal(in, out, {}, &Piece::rank, &Piece::rank)) return false;
  if (made.op == "all_reduce" && brought == got) {
    set_shape(made, {got});
    set_terms(made.input, in, *reduce);
    set_copies(made.output, out);
  } else if (made.op == "reduce_scatter" && brought == checked_mul(got, n)) {
    set_shape(made, {n, got});
    set_terms(made.input, in, *reduce);
    set_parts(made.output, out, 0);
  } else if (made.op == "all_gather" && got == checked_mul(brought, n)) {
    set_shape(made, {n, brought});
    set_parts(made.input, in, 0);
    set_copies(made.output, out);
  } else if (made.op == "all_to_all" && brought == got && got % n == 0) {
    set_shape(made, {n, n, got / n});  // from, to
    set_parts(made.input, in, 0);
    set_parts(made.output, out, 1);
  } else if (made.op == "broadcast" && brought == got) {
    const auto root = Attributes(record.attrs).number("root");
    const auto from =
        std::ranges::find_if(in, [&](const Piece& piece) { return root && piece.rank == *root; });
    if (from == in.end()) return false;
    set_shape(made, {got});
    made.input.pieces = {at(*from, whole({got}), {1})};
    set_copies(made.output, out);
  } else {
    return false;
  }
  return true;
}

Tensor without_pieces(const Tensor& tensor) {
  Tensor bare = tensor;
  bare.pieces.clear();
  bare.replicas.clear();
  return bare;
}

void add_groups(const Collective& found, const Mesh& mesh, std::vector<Collective>& all) {
  const bool declared = !is_by_rank(*found.given) || !is_by_rank(*found.gotten);
  if (declared) {
    if (found.given->shape != found.gotten->shape) return;
    Collective& made = all.emplace_back(found);
    made.input = *found.given;
    made.output = *found.gotten;
    return;
  }
  const auto in = members_of(*found.given), out = members_of(*found.gotten);
  if (!in || !out) return;
  const TraceRecord& record = *found.gotten->trace;
  const std::vector<Members> from = groups_of(*in, record, mesh),
                             to = groups_of(*out, record, mesh);
  for (std::size_t g = 0; g < std::min(from.size(), to.size()); ++g) {
    Collective made = found;
    made.input = without_pieces(*found.given);
    made.output = without_pieces(*found.gotten);
    if (!lay_out(from[g], to[g], record, made)) continue;
    for (const Piece& piece : from[g]) made.group.push_back(piece.rank);
    all.push_back(std::move(made));
  }
}

std::int32_t rank_of(const Tensor& tensor) {
  if (!tensor.pieces.empty()) return tensor.pieces.front().rank;
  return tensor.terms.empty() ? kNoRank : tensor.terms.front().front().rank;
}

/// What its module made of each `comm_out`: the next record of its rank that is neither of a
/// collective nor an input, if it is of the same module; of a parameter's gradient the reduced one.
std::map<const Tensor*, const Tensor*> results_of(std::span<const Tensor> tensors) {
  std::vector<const Tensor*> in_turn;
  std::map<std::string_view, const Tensor*> reduced;
  for (const Tensor& tensor : tensors) {
    if (tensor.trace && tensor.kind != Kind::input) in_turn.push_back(&tensor);
    if (tensor.kind == Kind::main_grad && tensor.identity.phase == Phase::sync) {
      reduced.emplace(tensor.identity.name, &tensor);
    }
  }
  std::ranges::stable_sort(in_turn, {}, [](const Tensor* tensor) {
    return std::pair(rank_of(*tensor), tensor->trace->seq);
  });
  std::map<const Tensor*, const Tensor*> results;
  const Tensor* next = nullptr;
  for (const Tensor* tensor : std::views::reverse(in_turn)) {
    if (tensor->identity.phase != Phase::comm) next = tensor;
    if (tensor->kind != Kind::comm_out) continue;
    const Identity& own = tensor->identity;
    const std::string_view module = module_of(own);
    const std::size_t kind = own.name.rfind("comm_out");
    const auto grad = kind == std::string::npos
                          ? reduced.end()
                          : reduced.find(fmt::format("{}/main_grad{}", module,
                                                     std::string_view(own.name).substr(kind + 8)));
    if (grad != reduced.end()) {
      results[tensor] = grad->second;
    } else if (next != nullptr && rank_of(*next) == rank_of(*tensor) &&
               module_of(next->identity) == module) {
      results[tensor] = next;
    }
  }
  return results;
}

/// The record of what went in, by that of what came out.
Identity brought_by(const Identity& gotten) {
  constexpr std::string_view kGotten = "/comm_out.";
  Identity given = gotten;
  const std::size_t found = given.name.rfind(kGotten);
  if (found != std::string::npos) given.name.replace(found, kGotten.size(), "/comm_in.");
  return given;
}

}  // namespace

std::vector<Collective> collectives_of(std::span<const Tensor> tensors, const Mesh& mesh) {
  std::map<Identity, const Tensor*> given;
  for (const Tensor& tensor : tensors) {
    if (tensor.kind == Kind::comm_in) given.emplace(tensor.identity, &tensor);
  }
  std::vector<Collective> all;
  const std::map<const Tensor*, const Tensor*> results = results_of(tensors);
  for (const Tensor& tensor : tensors) {
    if (tensor.kind != Kind::comm_out || !tensor.trace) continue;
    const auto in = given.find(brought_by(tensor.identity));
    if (in == given.end() || !Operand::readable(*in->second) || !Operand::readable(tensor)) {
      continue;
    }
    Collective found;
    found.given = in->second;
    found.gotten = &tensor;
    const auto result = results.find(&tensor);
    if (result != results.end()) found.result = result->second;
    found.op = tensor.trace->op.empty() ? "collective" : tensor.trace->op;
    add_groups(found, mesh, all);
  }
  return all;
}

}  // namespace ttcheck::recompute
