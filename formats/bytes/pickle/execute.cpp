// SPDX-License-Identifier: Apache-2.0
// What each opcode does to the stack, by kind: the most frequent kinds are asked first.

#include <array>

#include "formats/bytes/pickle/machine.hpp"

namespace ttcheck::formats {

/// Values that are there, moved about: most opcodes of a pickle are these.
bool PickleMachine::execute_moving() {
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
bool PickleMachine::execute_calls() {
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
bool PickleMachine::execute_plain() {
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
bool PickleMachine::execute_container() {
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
bool PickleMachine::execute_filling() {
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

void PickleMachine::execute() {
  if (execute_moving() || execute_calls() || execute_plain() || execute_container() ||
      execute_filling()) {
    return;
  }
  fail("opcode is not handled");
}

}  // namespace ttcheck::formats
