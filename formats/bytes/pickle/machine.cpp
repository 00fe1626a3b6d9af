// SPDX-License-Identifier: Apache-2.0
// A pickle is a program that may end anywhere, pop what is not there or fetch what was never put.
// Each of these throws, and `run` makes the Error the fault of the pickle. Then `salvage` keeps
// what was made. A pickler lays down an empty container, a mark and the items, and fills the
// container last. So what lies above the topmost mark goes into the dict, object or list below
// that mark, half a pair left out, or else into a tuple of its own; then the next mark has its
// turn. What lies on the bottom value without a mark goes into it where it is a container, and is
// dropped otherwise. That value becomes the root.
//
// Frames are not needed for reading; a FRAME that cannot be true is an oddity. STACK_GLOBAL takes
// its names from the stack: where they are no text, or longer than 1024 bytes, the global is `?`
// and computed.

#include "formats/bytes/pickle/machine.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kLastProtocol = 5;
/// The longest module or name: each opcode looks the text up, and may take the same one again.
constexpr std::size_t kLongestName = 1024;

}  // namespace

Pickle PickleMachine::run() {
  std::optional<Error> fault;
  try {
    while (!stopped_) {
      next_op(in_, op_);
      make_.at(op_.offset, in_.offset());
      check_frame();
      execute();
    }
  } catch (const Error& error) {
    fault = error.at(in_.source().where(op_.offset));
    salvage();
  }
  std::optional<NodeId> root;
  if (!stack_.empty()) root = stack_.back();
  if (!fault && stack_.size() > 1) make_.oddity("STOP leaves further values on the stack");
  return make_.finish(root, std::move(fault), in_.offset());
}

void PickleMachine::check_frame() {
  if (op_.code == Opcode::frame) {
    if (in_.offset() < frame_end_) make_.oddity("FRAME starts within another frame");
    if (op_.number > in_.remaining()) {
      make_.oddity(fmt::format("FRAME claims {} bytes, {} left", op_.number, in_.remaining()));
      frame_end_ = 0;
      return;
    }
    frame_end_ = in_.offset() + op_.number;
  } else if (op_.offset < frame_end_ && in_.offset() > frame_end_) {
    make_.oddity("an opcode straddles the end of its frame");
  }
}

/// Fails for text that is no UTF-8 as Lib/pickle.py decodes it; what else is text is so by
/// another encoding.
void PickleMachine::check_text(Surrogates surrogates) {
  if (!is_utf8(op_.text, surrogates)) fail("text that is no UTF-8");
}

void PickleMachine::import_two_lines() {
  check_text(Surrogates::refused);
  const std::size_t split = op_.text.find('\n');
  const std::string_view both = op_.text;
  push(make_.global(both.substr(0, split), both.substr(split + 1), false));
}

void PickleMachine::import_from_stack() {
  const Value name = make_.value(pop());
  const Value module = make_.value(pop());
  if (!name.is(NodeKind::text) || !module.is(NodeKind::text)) {
    make_.oddity("STACK_GLOBAL takes its name from a value that is no text");
    return push(make_.global("?", "?", true));
  }
  if (module.text()->size() > kLongestName || name.text()->size() > kLongestName) {
    make_.oddity(fmt::format("STACK_GLOBAL takes a name of more than {} characters", kLongestName));
    return push(make_.global("?", "?", true));
  }
  const std::string both = fmt::format("{}\n{}", *module.text(), *name.text());
  const std::size_t split = module.text()->size();
  push(make_.global(std::string_view(both).substr(0, split),
                    std::string_view(both).substr(split + 1), false));
}

void PickleMachine::call_from_stack(Construction how) {
  const NodeId args = pop();
  const NodeId callable = pop();
  if (!make_.value(args).is(NodeKind::tuple)) fail("arguments of a call are no tuple");
  call(how, callable, args, kNoNode);
}

void PickleMachine::new_object_with_keywords() {
  const NodeId kwargs = pop();
  const NodeId args = pop();
  const NodeId callable = pop();
  call(Construction::new_object, callable, args, kwargs);
}

void PickleMachine::instance() {
  import_two_lines();
  const NodeId callable = pop();
  const NodeId args = make_.tuple(pop_mark());
  call(Construction::instance, callable, args, kNoNode);
}

void PickleMachine::object() {
  const std::span<const NodeId> items = pop_mark();
  if (items.empty()) fail("there is no class to build from");
  const NodeId args = make_.tuple(items.subspan(1));
  call(Construction::instance, items.front(), args, kNoNode);
}

void PickleMachine::container_of_mark(NodeKind kind) {
  const std::span<const NodeId> items = pop_mark();
  const NodeId made = make_.container(kind);
  if (kind == NodeKind::dict) {
    set_items(made, items);
  } else {
    make_.append(made, items);
  }
  push(made);
}

void PickleMachine::protocol() {
  if (op_.number > kLastProtocol) fail(fmt::format("protocol {} is unknown", op_.number));
  if (op_.offset != begin_) make_.oddity("PROTO in the middle of the pickle");
  make_.protocol(static_cast<int>(op_.number));
}

void PickleMachine::integer() {
  if (op_.big) return push(make_.big_integer(op_.text));
  if (op_.text == "00" || op_.text == "01") return push(make_.boolean(op_.text == "01"));
  push(make_.integer(op_.number));
}

void PickleMachine::salvage() {
  while (!marks_.empty() || stack_.size() > 1) {
    const std::size_t from = marks_.empty() ? std::size_t{1} : marks_.back();
    if (!marks_.empty()) marks_.pop_back();
    std::vector<NodeId> items(stack_.begin() + from, stack_.end());
    stack_.resize(from);
    try {
      if (stack_.empty()) {
        push(make_.tuple(items));
      } else if (make_.value(stack_.back()).is(NodeKind::dict) ||
                 make_.value(stack_.back()).is(NodeKind::object)) {
        if (items.size() % 2 != 0) items.pop_back();
        make_.set(stack_.back(), items);
      } else if (make_.value(stack_.back()).is(NodeKind::list)) {
        make_.append(stack_.back(), items);
      } else {
        push(make_.tuple(items));
      }
    } catch (const Error&) {
      return;  // the budget is spent: the fault already says so
    }
    if (marks_.empty() && stack_.size() == 1) return;
    if (marks_.empty()) stack_.resize(1);
  }
}

Pickle read_pickle(Stream& in) { return PickleMachine(in).run(); }

}  // namespace ttcheck::formats
