"""The faults that `make mutants` plants: what each rule replaces in the source of a Python file.

A rule works on the syntax tree but edits the text, so that a planted fault is one short change of one line or block.
Annotations, docstrings, messages and what only type checkers read are left alone.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
ARITHMETIC = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|",
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "startswith": "endswith",
         "endswith": "startswith", "bisect_left": "bisect_right", "bisect_right": "bisect_left", "lstrip": "rstrip",
         "rstrip": "lstrip", "find": "rfind", "rfind": "find", "partition": "rpartition"}  # fmt: skip
ENCODINGS = ("ascii", "latin-1", "utf-8", "surrogatepass", "replace", "strict")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted fault: bytes `start` to `end` of the file become `text`."""

    line: int
    rule: str
    start: int
    end: int
    text: bytes

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault."""
        return source[: self.start] + self.text + source[self.end :]

    def is_python(self, source: bytes) -> bool:
        """Return whether the source with the fault can be parsed."""
        with suppress(SyntaxError):
            return bool(ast.parse(self.applied(source)))
        return False

    def shown(self, source: bytes) -> str:
        """Return the lines that change, as `before → after`."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end) % (len(source) + 1)
        after = source[first : self.start] + self.text + source[self.end : last]
        before, after_text = (" ".join(part.decode().split()) for part in (source[first:last], after))
        return f"{before[:160]}  →  {after_text[:160]}"


def mutants_of(source: bytes) -> list[Mutant]:
    """Return every fault that the rules can plant in a file, in the order of its lines; a few are no Python."""
    planter = _Planter(source)
    planter.visit(ast.parse(source))
    return sorted(set(planter.planted), key=lambda mutant: (mutant.start, mutant.end, mutant.text))


class _Planter(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source, self.planted = source, list[Mutant]()
        self.line_starts = [0]
        for line in source.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        starts = self.line_starts
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def _plant(self, rule: str, line: int, start: int, end: int, text: str | bytes) -> None:
        self.planted.append(Mutant(line, rule, start, end, text.encode() if isinstance(text, str) else text))

    def _replace(self, rule: str, node: ast.expr | ast.stmt, text: str | bytes) -> None:
        self._plant(rule, node.lineno, *self._span(node), text)

    def _operator(self, rule: str, left: ast.expr, right: ast.expr, text: str) -> None:
        """Replace what stands between two operands, but for parentheses around them."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self.source[start:end]
        old = between.strip(b"() \n\t\\")
        at = start + between.find(old) if old and b"#" not in old else -1
        if at >= 0:
            self._plant(rule, left.end_lineno or left.lineno, at, at + len(old), text)

    def _text(self, node: ast.expr | ast.stmt) -> bytes:
        start, end = self._span(node)
        return self.source[start:end]

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
            self._operator("comparison", left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = any(isinstance(side, ast.JoinedStr | ast.Constant) and isinstance(getattr(side, "value", ""), str)
                      for side in (node.left, node.right))  # fmt: skip
        if type(node.op) in ARITHMETIC and not is_text:
            self._operator("arithmetic", node.left, node.right, ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC:
            self._operator("arithmetic", node.target, node.value, f"{ARITHMETIC[type(node.op)]}=")
        self._replace("no statement", node, "pass")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._operator("and, or", left, right, word)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self._replace("no sign", node, self._text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("constant", node, str(not node.value))
        elif isinstance(node.value, int) and (node.value % 100 or not node.value):  # round numbers are choices
            self._replace("off by one", node, str(node.value + 1))
            if node.value > 1:
                self._replace("off by one", node, str(node.value - 1))
        elif isinstance(node.value, str) and node.value in ENCODINGS:
            self._replace("encoding", node, repr("latin-1" if node.value.startswith("utf") else "ignore"))

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "__name__ == '__main__'"):
            self._replace("condition", node.test, b"not (" + self._text(node.test) + b")")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace("condition", node.test, b"not (" + self._text(node.test) + b")")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for left, right in zip(node.args, node.args[1:], strict=False):
            if isinstance(left, ast.Name | ast.Attribute) and isinstance(right, ast.Name | ast.Attribute):
                middle = self.source[self._span(left)[1] : self._span(right)[0]]
                swapped = self._text(right) + middle + self._text(left)
                self._plant("swapped arguments", left.lineno, self._span(left)[0], self._span(right)[1], swapped)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in ("strict", "slots"):  # whatever `zip` is told, the lengths are equal
            self.generic_visit(node)

    def _name(self, node: ast.Name | ast.Attribute, name: str) -> None:
        if name in NAMES:
            end = self._span(node)[1]
            self._plant("other function", node.end_lineno or 0, end - len(name), end, NAMES[name])
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._name(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._name(node, node.attr)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call):
            self._replace("no statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Subscript | ast.Attribute) for target in node.targets):
            self._replace("no statement", node, "pass")
        if ast.unparse(node.targets[0]) != "__all__":
            self.visit(node.value)
            for target in node.targets:
                self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace("nothing returned", node, "return None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("lost error", node, "pass")  # what it says is not changed: no test should quote every message

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_Break(self, node: ast.Break) -> None:
        self._replace("jump", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace("jump", node, "break")

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if "lock" in ast.unparse(item.context_expr).lower() and item.optional_vars is None:
                self._replace("missing lock", item.context_expr, "__import__('contextlib').nullcontext()")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass
