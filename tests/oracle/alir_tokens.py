"""Tokens and expressions of Affine Loop IR text. See alir_text.py."""

import re

from .alir_nodes import At, Binary, Call, Chain, Expression, Name, Number, Pack, Read, Unary, UnreadableError

TOKEN = re.compile(
    r"""(?P<skip>(?:\s|\#[^\n]*)+)
      | (?P<string>"[^"\n]*")
      | (?P<assign>(?:argmax|argmin|max|min|and|or)=(?!=)|\+=|\*=)
      | (?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)
      | (?P<name>[A-Za-z_]\w*|`[A-Za-z_]\w*`)
      | (?P<symbol>->|//|<=|>=|==|!=|\.\.\.|\.\.|[-+*/%<>=(){}\[\],:;])""",
    re.VERBOSE,
)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class ExpressionReader:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, At]] = []
        self.position = 0
        offset = 0
        while offset < len(text):
            match = TOKEN.match(text, offset)
            if match is None:
                raise UnreadableError(f"unexpected {text[offset : offset + 10]!r}")
            if match.lastgroup != "skip":
                self.tokens.append((match.lastgroup or "", match.group(), match.span()))
            offset = match.end()
        self.tokens.append(("end", "", (len(text), len(text))))

    # --- tokens -----------------------------------------------------------------------------------

    @property
    def word(self) -> str:
        return self.tokens[self.position][1]

    @property
    def kind(self) -> str:
        return self.tokens[self.position][0]

    @property
    def start(self) -> int:
        return self.tokens[self.position][2][0]

    @property
    def end(self) -> int:
        """Where the last token read ended."""
        return self.tokens[self.position - 1][2][1]

    def next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1][1]

    def accept(self, word: str) -> bool:
        if self.word == word and self.kind != "string":
            self.position += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            line = self.text.count("\n", 0, self.start) + 1
            raise UnreadableError(f"line {line}: expected {word!r}, found {self.word!r}")

    def identifier(self) -> str:
        if self.kind != "name":
            line = self.text.count("\n", 0, self.start) + 1
            raise UnreadableError(f"line {line}: expected a name, found {self.word!r}")
        return self.next().strip("`")

    def string(self) -> str:
        if self.kind != "string":
            raise UnreadableError(f"expected a string, found {self.word!r}")
        return self.next()[1:-1]

    def expression(self) -> Expression:
        return self.binary(0)

    LEVELS = (("or",), ("and",), ("not",), COMPARISONS, ("+", "-"), ("*", "/", "//", "%"))

    def binary(self, level: int) -> Expression:
        if level == len(self.LEVELS):
            return self.unary()
        start, operators = self.start, self.LEVELS[level]
        if operators == ("not",):
            if self.accept("not"):
                return Unary((start, self.end), "not", self.binary(level))
            return self.binary(level + 1)
        left = self.binary(level + 1)
        if operators is COMPARISONS:
            operands, found, found_at = [left], [], []
            while self.kind == "symbol" and self.word in COMPARISONS:
                found_at.append(self.tokens[self.position][2])
                found.append(self.next())
                operands.append(self.binary(level + 1))
            if not found:
                return left
            return Chain((start, self.end), tuple(operands), tuple(found), tuple(found_at))
        while self.kind in ("symbol", "name") and self.word in operators:
            at = self.tokens[self.position][2]
            operator = self.next()
            right = self.binary(level + 1)
            left = Binary((start, self.end), operator, at, left, right)
        return left

    def unary(self) -> Expression:
        start = self.start
        if self.accept("-"):
            operand = self.unary()
            return Unary((start, self.end), "-", operand)
        return self.primary()

    def primary(self) -> Expression:
        start = self.start
        if self.kind == "number":
            word = self.next()
            return Number((start, self.end), int(word) if word.isdigit() else float(word))
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        name = self.identifier()
        constants: dict[str, float | bool] = {"true": True, "false": False, "inf": float("inf"), "nan": float("nan")}
        if name in constants:
            return Number((start, self.end), constants[name])
        if self.accept("["):
            subscripts = self.subscripts()
            return Read((start, self.end), name, subscripts)
        if self.accept("("):
            arguments = []
            while not self.accept(")"):
                arguments.append(self.expression())
                self.accept(",")
            return Call((start, self.end), name, tuple(arguments))
        return Name((start, self.end), name)

    def subscripts(self) -> tuple[Expression | Pack, ...]:
        """The rest of a bracketed list."""
        found: list[Expression | Pack] = []
        while not self.accept("]"):
            start = self.start
            if self.accept("*"):
                found.append(Pack((start, self.tokens[self.position][2][1]), self.identifier()))
            else:
                found.append(self.expression())
            self.accept(",")
        return tuple(found)
