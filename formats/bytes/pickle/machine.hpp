// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pickle machine, run symbolically. Opcodes move numbers of nodes about on a stack; a call
// makes a node that names its callee and arguments. Marks lie on a stack of their own, memo entries
// in an array while they come in order and in an ordered map otherwise, so no claim in the stream
// sizes anything. After a fault the open containers are closed over what they had, innermost first.
// What each opcode does is in execute.cpp, the rest in machine.cpp.

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/utf8.hpp"
#include "formats/bytes/pickle/builder.hpp"
#include "formats/bytes/pickle/opcodes.hpp"
#include "formats/bytes/trivial_vector.hpp"

namespace ttcheck::formats {

/// Reads one pickle.
class PickleMachine {
 public:
  /// REQUIRES that `in` outlives it.
  explicit PickleMachine(Stream& in) : in_(in), begin_(in.offset()), make_(in.source(), begin_) {}

  /// Reads what the stream holds up to STOP, or up to its first fault.
  Pickle run();

 private:
  [[noreturn]] void fail(const std::string& message) const {
    Where where = in_.source().where(op_.offset);
    where.object = opcode_name(static_cast<std::uint8_t>(op_.code));
    throw Error(message, std::move(where));
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  NodeId top() const {
    if (stack_.size() <= floor()) fail("the stack is empty");
    return stack_.back();
  }

  NodeId pop() {
    const NodeId id = top();
    stack_.resize(stack_.size() - 1);
    return id;
  }

  /// Pops what lies above the topmost mark; valid until the next push.
  std::span<const NodeId> pop_mark() {
    if (marks_.empty()) fail("there is no mark on the stack");
    const std::span<const NodeId> popped = std::span<const NodeId>(stack_).subspan(marks_.back());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return popped;
  }

  void push(NodeId id) { stack_.push_back(id); }

  void memoize(std::uint64_t key) {
    const NodeId id = top();
    if (key < memo_.size()) {
      memo_[key] = id;
    } else if (key == memo_.size()) {
      memo_.push_back(id);
    } else {
      sparse_memo_[key] = id;
    }
  }

  void recall(std::uint64_t key) {
    if (key < memo_.size()) return push(memo_[key]);
    const auto found = sparse_memo_.find(key);
    if (found == sparse_memo_.end()) fail(fmt::format("memo has no entry {}", key));
    push(found->second);
  }

  void call(Construction how, NodeId callable, NodeId args, NodeId kwargs) {
    make_.call(callable);
    push(make_.object(how, callable, args, kwargs));
  }

  void short_tuple(std::size_t count) {
    if (stack_.size() < floor() + count) fail("the stack is too short");
    const NodeId id = make_.tuple(std::span<const NodeId>(stack_).last(count));
    stack_.resize(stack_.size() - count);
    push(id);
  }

  void set_items(NodeId target, std::span<const NodeId> pairs) {
    if (pairs.size() % 2 != 0) fail("a key without a value");
    make_.set(target, pairs);
  }

  void pop_value() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
    } else {
      pop();
    }
  }

  void check_frame();
  void check_text(Surrogates surrogates);
  void import_two_lines();
  void import_from_stack();
  void call_from_stack(Construction how);
  void new_object_with_keywords();
  void instance();
  void object();
  void container_of_mark(NodeKind kind);
  void protocol();
  void integer();
  bool execute_moving();
  bool execute_calls();
  bool execute_plain();
  bool execute_container();
  bool execute_filling();
  void execute();
  void salvage();

  Stream& in_;
  std::uint64_t begin_;
  PickleBuilder make_;
  PickleOp op_;
  TrivialVector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  TrivialVector<NodeId> memo_;
  std::map<std::uint64_t, NodeId> sparse_memo_;
  std::uint64_t frame_end_ = 0;
  std::uint64_t buffers_ = 0;
  bool stopped_ = false;
};

}  // namespace ttcheck::formats
