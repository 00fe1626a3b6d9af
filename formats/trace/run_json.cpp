// SPDX-License-Identifier: Apache-2.0
// The version is checked first, then the axes, then the ranks, whose coordinates must lie on
// them; their number must be `world_size`. Axes keep the order of the file, slowest first. These
// decide where every array of the trace lies, so what is wrong with them is an Error: an axis
// listed twice, one without extent, a coordinate outside. Two ranks in one place are a finding,
// as is a key that is there twice in what becomes facts: the parser keeps both, so that the file
// still opens. Facts are gathered depth first in file order, with a stack of what is open and one
// name that grows and shrinks with it; null is no fact. A key is part of the name of all that is
// below it, so names are counted as they are kept. More than 64 axes are an Error; facts beyond
// 10000, or beyond 16 MiB of names, are not read, which is said. The caller reads a file of at most
// 16 MiB (formats/trace/format), and the parser bounds how deep values nest.

#include "formats/trace/run_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/python_json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxFacts = 10'000;
constexpr std::size_t kMaxNames = std::size_t{16} << 20;  ///< bytes, as many as the file may have
constexpr std::size_t kMaxAxes = 64;

class Reader {
 public:
  Reader(std::string text, const std::string& file)
      : json_(std::move(text), file, 0, Duplicates::keep), file_(file) {}

  TraceRun read() {
    const Json root = json_.root();
    if (!root.is(Json::Kind::object)) root.fail("run.json is no object");
    const Json version = required("ttcheck_trace");
    if (!version.is(Json::Kind::integer) || version.integer() != kVersion) {
      version.fail(
          fmt::format("trace version {} where {} is known", json_.text_of(version), kVersion));
    }
    read_axes();
    read_ranks();
    collect_facts();
    out_.findings = findings_.take();
    if (limit_) out_.findings.push_back(*std::move(limit_));
    return std::move(out_);
  }

 private:
  Json required(std::string_view key) const {
    const auto value = json_.root().find(key);
    if (!value) json_.root().fail(fmt::format("key {} is missing", key));
    return *value;
  }

  Where place(const Json& value, std::string object) const {
    return {file_, value.offset(), std::move(object)};
  }

  void read_axes() {
    const Json mesh = required("mesh");
    if (!mesh.is(Json::Kind::object)) mesh.fail("mesh is no object");
    std::set<std::string_view> seen;
    for (const auto& [axis, size] : mesh.members()) {
      if (!seen.insert(axis).second) size.fail("axis is listed twice", axis);
      if (seen.size() > kMaxAxes)
        mesh.fail(fmt::format("mesh of more than {} axes, which is the most", kMaxAxes));
      out_.mesh.axes.push_back({std::string(axis), size.integer()});
      if (out_.mesh.axes.back().size < 1) size.fail("axis has no extent", axis);
    }
  }

  void read_ranks() {
    const Json world = required("world_size");
    const std::int64_t size = world.integer();
    const Json ranks = required("ranks");
    if (!ranks.is(Json::Kind::array)) ranks.fail("ranks is no list");
    std::set<Coordinates> seen;
    for (const Json& rank : ranks.items()) {
      if (!rank.is(Json::Kind::object)) rank.fail("rank is no object of coordinates");
      Coordinates at;
      for (const auto& [axis, value] : rank.members()) {
        const std::int64_t coordinate = value.integer();
        if (coordinate < 0 || coordinate >= out_.mesh.size_of(axis)) {
          value.fail(fmt::format("rank {} has coordinate {} on an axis of {}",
                                 out_.mesh.ranks.size(), coordinate, out_.mesh.size_of(axis)),
                     axis);
        }
        if (!at.emplace(axis, coordinate).second) value.fail("axis is listed twice", axis);
      }
      if (!seen.insert(at).second) {
        findings_.add(found(
            Code::unreadable,
            fmt::format("rank {} has the coordinates of another rank", out_.mesh.ranks.size()),
            place(rank, "ranks")));
      }
      out_.mesh.ranks.push_back(std::move(at));
    }
    if (size < 1 || static_cast<std::uint64_t>(size) != out_.mesh.ranks.size()) {
      world.fail(
          fmt::format("world_size is {}, the list of ranks has {}", size, out_.mesh.ranks.size()));
    }
  }

  /// An object or a list whose values are being read, and what of it comes next.
  struct Open {
    JsonRange<JsonMember>::Iterator member, last_member;
    JsonRange<Json>::Iterator item, last_item;
    std::size_t index = 0;      ///< of the next item
    std::size_t name_size = 0;  ///< of the name of the whole

    bool done() const { return member == last_member && item == last_item; }
    std::pair<std::string, Json> take() {
      if (member == last_member) {
        const Json value = *item++;
        return {std::to_string(index++), value};
      }
      const JsonMember next = *member++;
      return {std::string(next.first), next.second};
    }
  };

  /// Everything but the mesh, as one fact a value, depth first in file order.
  void collect_facts() {
    bool all = enter(json_.root());
    while (all && !open_.empty()) {
      name_.resize(open_.back().name_size);
      if (open_.back().done()) {
        open_.pop_back();
        continue;
      }
      const auto [part, value] = open_.back().take();
      if (open_.size() == 1 && (part == "mesh" || part == "ranks")) continue;
      if (!name_.empty()) name_ += '.';
      name_ += part;
      all = read(value);
    }
  }

  /// False when there are too many.
  bool read(const Json& value) {
    if (out_.facts.size() == kMaxFacts) {
      return not_read(value, fmt::format("more than {} values, the rest is not read", kMaxFacts));
    }
    if (value.is(Json::Kind::object) || value.is(Json::Kind::array)) return enter(value);
    if (value.is(Json::Kind::null)) return true;
    if (!keep_name(value, name_.size())) return false;
    const bool compared = name_.starts_with("model.") || name_.starts_with("optimizer.");
    out_.facts.push_back({name_, json_.fact_of(value), compared ? FactUse::compared : FactUse::note,
                          place(value, name_)});
    return true;
  }

  /// Opens an object or a list, which is called `name_`.
  bool enter(const Json& value) {
    Open open;
    open.name_size = name_.size();
    if (value.is(Json::Kind::array)) {
      open.item = value.items().begin();
      open.last_item = value.items().end();
    } else {
      open.member = value.members().begin();
      open.last_member = value.members().end();
      if (!find_twice(value)) return false;
    }
    open_.push_back(open);
    return true;
  }

  bool find_twice(const Json& object) {
    const std::string prefix = name_.empty() ? "" : name_ + ".";
    std::set<std::string_view> keys;
    for (const auto& [key, value] : object.members()) {
      if (keys.insert(key).second) continue;
      if (!keep_name(value, prefix.size() + key.size())) return false;
      findings_.add(found(Code::unreadable, fmt::format("key {} is there twice", key),
                          place(value, prefix + std::string(key))));
    }
    return true;
  }

  bool keep_name(const Json& value, std::size_t bytes) {
    if (bytes > names_left_) {
      return not_read(value, fmt::format("names of more than {} bytes together, the rest is not "
                                         "read",
                                         kMaxNames));
    }
    names_left_ -= bytes;
    return true;
  }

  bool not_read(const Json& value, std::string message) {
    limit_ = beyond(place(value, name_), std::move(message));
    return false;
  }

  PythonJson json_;
  std::string file_;
  TraceRun out_;
  Findings findings_;
  std::optional<Finding> limit_;  ///< beside the others: however many there are, it is told
  std::vector<Open> open_;
  std::string name_;  ///< of the value that is looked at
  std::size_t names_left_ = kMaxNames;
};

}  // namespace

TraceRun parse_trace_run(std::string text, const std::string& file) {
  return Reader(std::move(text), file).read();
}

}  // namespace ttcheck::formats
