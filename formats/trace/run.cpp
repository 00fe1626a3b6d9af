// SPDX-License-Identifier: Apache-2.0
// The version is checked first, then the axes, then the ranks, whose coordinates must lie on
// them; their number must be `world_size`. Axes keep the order of the file, slowest first. These
// decide where every array of the trace lies, so what is wrong with them is an Error: an axis
// listed twice, one without extent, a coordinate outside. Two ranks in one place are a finding,
// as is a key that is there twice in what becomes facts: the parser keeps both, so that the file
// still opens. Facts are gathered depth first with a stack, children pushed in reverse so that
// they come out in file order; null is no fact. More than 64 axes are an Error; facts beyond
// 10000 are not read, which is said. The caller reads a file of at most 16 MiB
// (formats/trace/format), and the parser bounds how deep values nest.

#include "formats/trace/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/python_json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxFacts = 10'000;
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

  /// Everything but the mesh, as one fact a value, depth first in file order.
  void collect_facts() {
    struct Pending {
      std::string name;
      Json value;
    };
    std::vector<Pending> stack = {{"", json_.root()}};
    while (!stack.empty()) {
      if (out_.facts.size() == kMaxFacts) {
        findings_.add(beyond(place(stack.back().value, stack.back().name),
                             fmt::format("more than {} values, the rest is not read", kMaxFacts)));
        return;
      }
      const Pending next = std::move(stack.back());
      stack.pop_back();
      std::vector<Pending> inner;
      const auto prefix = next.name.empty() ? "" : next.name + ".";
      if (next.value.is(Json::Kind::object)) {
        std::set<std::string_view> keys;
        for (const auto& [key, value] : next.value.members()) {
          if (!keys.insert(key).second) {
            findings_.add(found(Code::unreadable, fmt::format("key {} is there twice", key),
                                place(value, prefix + std::string(key))));
          }
          if (!next.name.empty() || (key != "mesh" && key != "ranks")) {
            inner.push_back({prefix + std::string(key), value});
          }
        }
      } else if (next.value.is(Json::Kind::array)) {
        for (const Json& item : next.value.items())
          inner.push_back({prefix + std::to_string(inner.size()), item});
      } else if (!next.value.is(Json::Kind::null)) {
        const bool compared =
            next.name.starts_with("model.") || next.name.starts_with("optimizer.");
        out_.facts.push_back({next.name, json_.fact_of(next.value),
                              compared ? FactUse::compared : FactUse::note,
                              place(next.value, next.name)});
      }
      stack.insert(stack.end(), std::make_move_iterator(inner.rbegin()),
                   std::make_move_iterator(inner.rend()));
    }
  }

  PythonJson json_;
  std::string file_;
  TraceRun out_;
  Findings findings_;
};

}  // namespace

TraceRun parse_trace_run(std::string text, const std::string& file) {
  return Reader(std::move(text), file).read();
}

}  // namespace ttcheck::formats
