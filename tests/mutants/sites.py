# SPDX-License-Identifier: Apache-2.0
"""Where a source can be changed: statements, conditions and constants, found in clang's tree.

A site is (path, offset, length, replacement, kind) and the lines of the function around it (0, 0 where
there is none, or one that the compiler may evaluate). Declarations stay, since what uses them would no
longer compile; a statement that returns a value goes with the condition before it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from clang import cindex
from clang.cindex import CursorKind as Kind


@dataclass(frozen=True, order=True)
class Site:
    path: str
    offset: int
    length: int
    replacement: str
    kind: str
    first_line: int = 0
    last_line: int = 0

    def apply(self, text: bytes) -> bytes:
        return text[: self.offset] + self.replacement.encode() + text[self.offset + self.length :]

    def original(self, text: bytes) -> str:
        return text[self.offset : self.offset + self.length].decode()

    def line(self, text: bytes) -> int:
        return text.count(b"\n", 0, self.offset) + 1

    def key(self, text: bytes) -> tuple[str, str, str]:
        """What names it though lines move: file, the text taken out, what stands in its place."""
        short = " ".join(self.original(text).split())
        return self.path, short, self.replacement

    def row(self, text: bytes) -> tuple[str, str, str]:
        """As tests/mutants.md names it: a constant with the code of its line, as many are alike."""
        if self.kind != "constant":
            return self.key(text)
        begin = text.rfind(b"\n", 0, self.offset) + 1
        end = self.offset + self.length
        before, behind = text[begin : self.offset], text[end : text.find(b"\n", end)].split(b"//")[0]
        line = f"{before.decode()}⟦{self.original(text)}⟧{behind.decode()}"
        return self.path, " ".join(line.split()), self.replacement


FUNCTIONS = {
    Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR,
    Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION,
}
LEAPS = {Kind.BREAK_STMT, Kind.CONTINUE_STMT, Kind.RETURN_STMT, Kind.CXX_THROW_EXPR, Kind.NULL_STMT}
LOGICAL = re.compile(rb"&&|\|\|")
CONSTANT = re.compile(rb"\bconst(expr|eval)\b")
NUMBER = re.compile(r"^(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlLzZ]*)$")


def is_unseen(cursor) -> bool:
    """What nobody sees unless a caller is wrong, or runs short: checks of preconditions, memory taken early."""
    return cursor.kind == Kind.CALL_EXPR and cursor.spelling in ("require", "reserve")


def extent(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset - cursor.extent.start.offset


class Finder:
    """Collects the sites of one file's tree; `folders` are those whose files are changed."""

    def __init__(self, root: Path, folders: list[str]):
        self.root, self.folders = root, folders
        self.found: set[Site] = set()
        self.texts: dict[str, bytes] = {}
        self.function = (0, 0)

    def path_of(self, cursor) -> str | None:
        file = cursor.location.file or cursor.extent.start.file
        if file is None:
            return None
        try:
            path = str(Path(file.name).resolve().relative_to(self.root))
        except ValueError:
            return None
        return path if path.startswith(tuple(self.folders)) else None

    def add(self, cursor, replacement: str, kind: str, at=None):
        path = self.path_of(cursor)
        if path is None:
            return
        offset, length = at or extent(cursor)
        text = self.text(path)
        if length > 0 and not self.in_macro(path, offset):
            self.found.add(Site(path, offset, length, replacement, kind, *self.function))

    def text(self, path: str) -> bytes:
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_bytes()
        return self.texts[path]

    def in_macro(self, path: str, offset: int) -> bool:
        text = self.text(path)
        line = text[text.rfind(b"\n", 0, offset) + 1 : offset]
        return line.lstrip().startswith(b"#")

    def walk(self, top):
        for cursor in top.get_children():
            if self.path_of(cursor) is not None:
                self.visit_all(cursor)

    def visit_all(self, top):
        stack = [(top, None, (0, 0))]
        while stack:
            cursor, parent, function = stack.pop()
            if cursor.kind == Kind.STATIC_ASSERT or is_unseen(cursor):
                continue
            if cursor.kind in FUNCTIONS and function == (0, 0):
                function = self.lines_of(cursor)
            self.function = function
            self.visit(cursor, parent)
            stack.extend((child, cursor, function) for child in cursor.get_children())

    def lines_of(self, function) -> tuple[int, int]:
        start, end = function.extent.start, function.extent.end
        path = self.path_of(function)
        if path is None or CONSTANT.search(self.text(path)[start.offset : end.offset].split(b"{")[0]):
            return 0, 0
        return start.line, end.line

    def visit(self, cursor, parent):
        kind = cursor.kind
        if kind == Kind.COMPOUND_STMT:
            self.statements(cursor, parent)
        elif kind in (Kind.IF_STMT, Kind.WHILE_STMT):
            self.condition_of(cursor)
        elif kind == Kind.FOR_STMT:
            self.for_condition(cursor)
        elif kind == Kind.CONDITIONAL_OPERATOR:
            first = next(cursor.get_children(), None)
            if first is not None:
                self.add(first, "(true)", "condition")
                self.add(first, "(false)", "condition")
        elif kind == Kind.BINARY_OPERATOR:
            self.operands(cursor)
        elif kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.CXX_BOOL_LITERAL_EXPR):
            self.constant(cursor)

    def statements(self, block, parent):
        children = list(block.get_children())
        alone = len(children) == 1 and parent is not None and parent.kind == Kind.IF_STMT
        for child in children:
            self.statement(child, alone)
            if child.kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT):
                for inner in child.get_children():
                    self.statement(inner, False)

    def statement(self, cursor, alone: bool):
        if is_unseen(cursor):
            return
        if cursor.kind in LEAPS:
            returns_value = cursor.kind == Kind.RETURN_STMT and any(cursor.get_children())
            if alone or returns_value or cursor.kind == Kind.NULL_STMT:
                return
            self.add(cursor, "((void)0)", "statement")
        elif cursor.kind.is_expression():
            self.add(cursor, "((void)0)", "statement")

    def condition_of(self, cursor):
        children = list(cursor.get_children())
        path = self.path_of(cursor)
        if not children or path is None:
            return
        head = self.text(path)[cursor.extent.start.offset :][:14]
        if re.match(rb"if\s+constexpr", head):
            return
        if children[0].kind.is_statement():  # `if (const auto x = ...; ...)`
            children = children[1:]
        condition, bodies = children[0], children[1:]
        if condition.kind.is_expression():
            # `while (true)` does not end: nothing would be learned
            if cursor.kind == Kind.IF_STMT:
                self.add(condition, "(true)", "condition")
            self.add(condition, "(false)", "condition")
        for body in bodies:
            if body.kind.is_expression() and body.kind not in LEAPS:
                self.add(body, "((void)0)", "statement")

    def for_condition(self, cursor):
        path = self.path_of(cursor)
        if path is None:
            return
        text = self.text(path)
        at = text.index(b"(", cursor.extent.start.offset) + 1
        depth, cuts = 0, []
        while depth >= 0 and at < cursor.extent.end.offset:
            char = text[at : at + 1]
            if char in b"([{":
                depth += 1
            elif char in b")]}":
                depth -= 1
            elif char == b";" and depth == 0:
                cuts.append(at)
            at += 1
        if len(cuts) == 2 and text[cuts[0] + 1 : cuts[1]].strip():
            self.add(cursor, " (false)", "condition", (cuts[0] + 1, cuts[1] - cuts[0] - 1))
        last = list(cursor.get_children())[-1]
        if last.kind.is_expression() and last.kind not in LEAPS:
            self.add(last, "((void)0)", "statement")

    def operands(self, cursor):
        path = self.path_of(cursor)
        children = list(cursor.get_children())
        if path is None or len(children) != 2:
            return
        left, right = (extent(child) for child in children)
        text = self.text(path)
        between = text[left[0] + left[1] : right[0]]
        if LOGICAL.search(between):
            for kept in (left, right):
                self.add(cursor, "(%s)" % text[kept[0] : kept[0] + kept[1]].decode(), "condition")

    def constant(self, cursor):
        path = self.path_of(cursor)
        offset, _ = extent(cursor)
        if path is None:
            return
        text = self.text(path)
        match = re.match(rb"[0-9a-zA-Z_.']+(?:(?<=[pPeE])[-+][0-9]+)?[fFlL]?", text[offset:])
        if not match:
            return
        word = match.group().decode()
        if word in ("true", "false"):
            value = "false" if word == "true" else "true"
        elif integer := NUMBER.match(word):
            value = "1" + integer[2] if int(integer[1].replace("'", ""), 0) == 0 else f"({word} + 1)"
        else:
            value = f"({word} + 1)" if re.fullmatch(r"0?\.?0*[fF]?", word) else f"(2 * {word})"
        self.add(cursor, value, "constant", (offset, len(word)))


def sites_of(root: str, source: str, arguments: list[str], folders: list[str]) -> list[Site]:
    """The sites in `source` and in the headers that it includes. Throws where clang cannot read it."""
    tree = cindex.Index.create().parse(source, args=arguments)
    finder = Finder(Path(root), folders)
    finder.walk(tree.cursor)
    return sorted(finder.found)
