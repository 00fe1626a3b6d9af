// SPDX-License-Identifier: Apache-2.0
// The pickle machine, run symbolically. Opcodes move numbers of nodes about on a stack; a call
// makes a node that names its callee and arguments. Marks lie on a stack of their own, memo entries
// in an array while they come in order and in an ordered map otherwise, so no claim in the stream
// sizes anything. After a fault the open containers are closed over what they had, innermost first.

#include <fmt/format.h>

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/utf8.hpp"
#include "formats/bytes/pickle_builder.hpp"
#include "formats/bytes/pickle_opcodes.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kLastProtocol = 5;
/// The longest module or name: each opcode looks the text up, and may take the same one again.
constexpr std::size_t kLongestName = 1024;

class Machine {
 public:
  explicit Machine(Stream& in) : in_(in), begin_(in.offset()), make_(in.source(), begin_) {}

  Pickle run() {
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

  /// What lies above the topmost mark; until the next push.
  std::span<const NodeId> pop_mark() {
    if (marks_.empty()) fail("there is no mark on the stack");
    const std::span<const NodeId> popped = std::span<const NodeId>(stack_).subspan(marks_.back());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return popped;
  }

  void push(NodeId id) { stack_.push_back(id); }

  void check_frame() {
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

  /// Fails for text that is no UTF-8 as Lib/pickle.py decodes it; what else is text is so by
  /// another encoding.
  void check_text(Surrogates surrogates) {
    if (!is_utf8(op_.text, surrogates)) fail("text that is no UTF-8");
  }

  void import_two_lines() {
    check_text(Surrogates::refused);
    const std::size_t split = op_.text.find('\n');
    const std::string_view both = op_.text;
    push(make_.global(both.substr(0, split), both.substr(split + 1), false));
  }

  void import_from_stack() {
    const Value name = make_.value(pop());
    const Value module = make_.value(pop());
    if (!name.is(NodeKind::text) || !module.is(NodeKind::text)) {
      make_.oddity("STACK_GLOBAL takes its name from a value that is no text");
      return push(make_.global("?", "?", true));
    }
    if (module.text()->size() > kLongestName || name.text()->size() > kLongestName) {
      make_.oddity(
          fmt::format("STACK_GLOBAL takes a name of more than {} characters", kLongestName));
      return push(make_.global("?", "?", true));
    }
    const std::string both = fmt::format("{}\n{}", *module.text(), *name.text());
    const std::size_t split = module.text()->size();
    push(make_.global(std::string_view(both).substr(0, split),
                      std::string_view(both).substr(split + 1), false));
  }

  void call(Construction how, NodeId callable, NodeId args, NodeId kwargs) {
    make_.call(callable);
    push(make_.object(how, callable, args, kwargs));
  }

  void call_from_stack(Construction how) {
    const NodeId args = pop();
    const NodeId callable = pop();
    if (!make_.value(args).is(NodeKind::tuple)) fail("arguments of a call are no tuple");
    call(how, callable, args, kNoNode);
  }

  void new_object_with_keywords() {
    const NodeId kwargs = pop();
    const NodeId args = pop();
    const NodeId callable = pop();
    call(Construction::new_object, callable, args, kwargs);
  }

  void instance() {
    import_two_lines();
    const NodeId callable = pop();
    const NodeId args = make_.tuple(pop_mark());
    call(Construction::instance, callable, args, kNoNode);
  }

  void object() {
    const std::span<const NodeId> items = pop_mark();
    if (items.empty()) fail("there is no class to build from");
    const NodeId args = make_.tuple(items.subspan(1));
    call(Construction::instance, items.front(), args, kNoNode);
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

  void container_of_mark(NodeKind kind) {
    const std::span<const NodeId> items = pop_mark();
    const NodeId made = make_.container(kind);
    if (kind == NodeKind::dict) {
      set_items(made, items);
    } else {
      make_.append(made, items);
    }
    push(made);
  }

  void protocol() {
    if (op_.number > kLastProtocol) fail(fmt::format("protocol {} is unknown", op_.number));
    if (op_.offset != begin_) make_.oddity("PROTO in the middle of the pickle");
    make_.protocol(static_cast<int>(op_.number));
  }

  void integer() {
    if (op_.big) return push(make_.big_integer(op_.text));
    if (op_.text == "00" || op_.text == "01") return push(make_.boolean(op_.text == "01"));
    push(make_.integer(op_.number));
  }

  void pop_value() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
    } else {
      pop();
    }
  }

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

/// Values that are there, moved about: most opcodes of a pickle are these.
bool Machine::execute_moving() {
  switch (op_.code) {
    case Opcode::memoize:
      memoize(memo_.size() + sparse_memo_.size());
      return true;
    case Opcode::get:
    case Opcode::binget:
    case Opcode::long_binget:
      recall(op_.number);
      return true;
    case Opcode::put:
    case Opcode::binput:
    case Opcode::long_binput:
      memoize(op_.number);
      return true;
    case Opcode::mark:
      marks_.push_back(stack_.size());
      return true;
    case Opcode::pop:
      pop_value();
      return true;
    case Opcode::pop_mark:
      pop_mark();
      return true;
    case Opcode::dup:
      push(top());
      return true;
    case Opcode::frame:
      return true;
    case Opcode::stop:
      top();
      stopped_ = true;
      return true;
    case Opcode::readonly_buffer:
      top();
      return true;
    default:
      return false;
  }
}

/// What a reader would import or call.
bool Machine::execute_calls() {
  switch (op_.code) {
    case Opcode::proto:
      protocol();
      return true;
    case Opcode::persid:
      push(make_.persistent(make_.text(op_.text)));
      return true;
    case Opcode::binpersid:
      push(make_.persistent(pop()));
      return true;
    case Opcode::global:
      import_two_lines();
      return true;
    case Opcode::stack_global:
      import_from_stack();
      return true;
    case Opcode::reduce:
      call_from_stack(Construction::reduce);
      return true;
    case Opcode::newobj:
      call_from_stack(Construction::new_object);
      return true;
    case Opcode::newobj_ex:
      new_object_with_keywords();
      return true;
    case Opcode::inst:
      instance();
      return true;
    case Opcode::obj:
      object();
      return true;
    case Opcode::build: {
      const NodeId state = pop();
      make_.build(top(), state);
      return true;
    }
    default:
      return false;
  }
}

/// Values without children.
bool Machine::execute_plain() {
  switch (op_.code) {
    case Opcode::none:
      push(make_.none());
      return true;
    case Opcode::newtrue:
      push(make_.boolean(true));
      return true;
    case Opcode::newfalse:
      push(make_.boolean(false));
      return true;
    case Opcode::integer:
    case Opcode::long_integer:
    case Opcode::long1:
    case Opcode::long4:
      integer();
      return true;
    case Opcode::binint:
    case Opcode::binint1:
    case Opcode::binint2:
      push(make_.integer(op_.number));
      return true;
    case Opcode::real:
    case Opcode::binfloat:
      push(make_.real(op_.number));
      return true;
    case Opcode::binunicode:
    case Opcode::short_binunicode:
    case Opcode::binunicode8:
      check_text(Surrogates::taken);
      push(make_.text(op_.text));
      return true;
    case Opcode::string:
    case Opcode::binstring:
    case Opcode::short_binstring:
    case Opcode::unicode:
      push(make_.text(op_.text));
      return true;
    case Opcode::binbytes:
    case Opcode::short_binbytes:
    case Opcode::binbytes8:
    case Opcode::bytearray8:
      push(make_.bytes(op_.bytes));
      return true;
    case Opcode::ext1:
    case Opcode::ext2:
    case Opcode::ext4:
      make_.oddity(fmt::format("imports code {} of the reader's extension registry", op_.number),
                   true);
      push(make_.number_of(NodeKind::extension, op_.number));
      return true;
    case Opcode::next_buffer:
      make_.oddity("refers to an out-of-band buffer, which no file holds", true);
      push(make_.number_of(NodeKind::buffer, buffers_++));
      return true;
    default:
      return false;
  }
}

/// Containers, empty or made of what is on the stack.
bool Machine::execute_container() {
  switch (op_.code) {
    case Opcode::empty_tuple:
      push(make_.empty_tuple());
      return true;
    case Opcode::tuple1:
      short_tuple(1);
      return true;
    case Opcode::tuple2:
      short_tuple(2);
      return true;
    case Opcode::tuple3:
      short_tuple(3);
      return true;
    case Opcode::tuple:
      push(make_.tuple(pop_mark()));
      return true;
    case Opcode::frozenset:
      push(make_.tuple(pop_mark(), NodeKind::frozen_set));
      return true;
    case Opcode::empty_list:
      push(make_.container(NodeKind::list));
      return true;
    case Opcode::empty_dict:
      push(make_.container(NodeKind::dict));
      return true;
    case Opcode::empty_set:
      push(make_.container(NodeKind::set));
      return true;
    case Opcode::list:
      container_of_mark(NodeKind::list);
      return true;
    case Opcode::dict:
      container_of_mark(NodeKind::dict);
      return true;
    default:
      return false;
  }
}

/// What goes into a container below it.
bool Machine::execute_filling() {
  switch (op_.code) {
    case Opcode::append: {
      const NodeId item = pop();
      make_.append(top(), std::span<const NodeId>(&item, 1));
      return true;
    }
    case Opcode::appends: {
      const std::span<const NodeId> items = pop_mark();
      make_.append(top(), items);
      return true;
    }
    case Opcode::additems: {
      const std::span<const NodeId> items = pop_mark();
      make_.add(top(), items);
      return true;
    }
    case Opcode::setitem: {
      const NodeId value = pop();
      const std::array<NodeId, 2> pair = {pop(), value};
      set_items(top(), pair);
      return true;
    }
    case Opcode::setitems: {
      const std::span<const NodeId> pairs = pop_mark();
      set_items(top(), pairs);
      return true;
    }
    default:
      return false;
  }
}

void Machine::execute() {
  if (execute_moving() || execute_calls() || execute_plain() || execute_container() ||
      execute_filling()) {
    return;
  }
  fail("opcode is not handled");
}

void Machine::salvage() {
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

}  // namespace

Pickle read_pickle(Stream& in) { return Machine(in).run(); }

}  // namespace ttcheck::formats
