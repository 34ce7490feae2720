"""A small reader of Affine Loop IR text, written apart from the project's own parser.

Every node keeps where it stands in the text, so that the mutation tests can cut into the text itself. It accepts what
the evaluator beside it can run and raises `UnreadableError` on the rest.
"""

import re

from .alir_nodes import (
    Apply,
    At,
    Axis,
    Binary,
    Call,
    Chain,
    Dims,
    Expression,
    File,
    Function,
    Item,
    Kernel,
    Loop,
    Name,
    Number,
    Pack,
    Port,
    Program,
    Read,
    Require,
    Slice,
    Statement,
    Target,
    Type,
    Unary,
    UnreadableError,
    Update,
    View,
)

TOKEN = re.compile(
    r"""(?P<skip>(?:\s|\#[^\n]*)+)
      | (?P<string>"[^"\n]*")
      | (?P<assign>(?:argmax|argmin|max|min|and|or)=(?!=)|\+=|\*=)
      | (?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)
      | (?P<name>[A-Za-z_]\w*|`[A-Za-z_]\w*`)
      | (?P<symbol>->|//|<=|>=|==|!=|\.\.\.|\.\.|[-+*/%<>=(){}\[\],:;])""",
    re.VERBOSE,
)
ROLES = ("input", "param", "buffer", "state", "const", "rng")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Reader:
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

    # --- files, functions, programs -----------------------------------------------------------------

    def file(self) -> File:
        result = File(self.text)
        while self.kind != "end":
            start = self.start
            if self.accept("fn"):
                function = self.function(start)
                result.functions[function.name] = function
            elif self.accept("program"):
                result.program = self.program(start)
            else:
                raise UnreadableError(f"expected fn or program, found {self.word!r}")
        return result

    def function(self, start: int) -> Function:
        name_at = self.tokens[self.position][2]
        name = self.identifier()
        generics = []
        if self.accept("<"):
            while not self.accept(">"):
                kind = "pack" if self.accept("*") else "type" if self.accept("type") else "dim"
                generics.append((kind, self.identifier()))
                self.accept(",")
        self.expect("(")
        parameters = []
        while not self.accept(")"):
            parameter = self.identifier()
            self.expect(":")
            parameters.append((parameter, self.type()))
            self.accept(",")
        results = self.results()
        body = self.block()
        return Function((start, self.end), name, name_at, tuple(generics), tuple(parameters), results, body)

    def program(self, start: int) -> Program:
        name = self.identifier()
        ports = []
        self.expect("(")
        while not self.accept(")"):
            role = self.next()
            if role not in ROLES:
                raise UnreadableError(f"unknown role {role!r}")
            port = self.identifier()
            self.expect(":")
            port_type = self.type()
            values = None
            if self.accept("="):
                self.expect("[")
                numbers = []
                while not self.accept("]"):
                    numbers.append(self.literal())
                    self.accept(",")
                values = tuple(numbers)
            ports.append(Port(role, port, port_type, values))
            self.accept(",")
        results = self.results()
        return Program((start, self.end), name, tuple(ports), results, self.block())

    def literal(self) -> float:
        sign = -1.0 if self.accept("-") else 1.0
        word = self.next()
        if word in ("true", "false"):
            return float(word == "true")
        return sign * float(word)

    def results(self) -> tuple[str, ...]:
        self.expect("->")
        self.expect("(")
        names = []
        while not self.accept(")"):
            names.append(self.identifier())
            self.accept(",")
        return tuple(names)

    def type(self) -> Type:
        element = self.identifier()
        wide = element == "wide"
        if wide:
            self.expect("(")
            element = self.identifier()
            self.expect(")")
        self.expect("[")
        extents = self.subscripts()
        if self.accept("as"):
            self.identifier()
        return Type(element, wide, extents)

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

    # --- statements ----------------------------------------------------------------------------------

    def block(self) -> tuple[Statement, ...]:
        """A braced block; op groups open no scope, so their statements join the others."""
        self.expect("{")
        statements: list[Statement] = []
        while not self.accept("}"):
            start = self.start
            keyword = self.next()
            if keyword == "op":
                self.string()
                if self.accept("at"):
                    self.string()
                if self.accept("module"):
                    self.string()
                if self.accept("nominal"):
                    self.expression()
                statements.extend(self.block())
            elif keyword in ("kernel", "indexed"):
                statements.append(self.kernel(start))
            elif keyword == "view":
                statements.append(self.view(start))
            elif keyword == "slice":
                statements.append(self.slice(start))
            elif keyword == "let":
                statements.append(self.apply(start))
            elif keyword == "dims":
                values: dict[str, Expression] = {}
                while not values or self.accept(","):
                    name = self.identifier()
                    self.expect("=")
                    values[name] = self.expression()
                statements.append(Dims((start, self.end), values))
            elif keyword == "require":
                statements.append(Require((start, self.end), self.expression()))
            elif keyword == "update":
                state = self.identifier()
                self.expect("=")
                statements.append(Update((start, self.end), state, self.identifier()))
            else:
                raise UnreadableError(f"statement {keyword!r}")
        return tuple(statements)

    def kernel(self, start: int) -> Kernel:
        types: dict[str, Type] = {}
        while not types or self.accept(","):
            name = self.identifier()
            self.expect(":")
            types[name] = self.type()
        self.expect("{")
        loops: list[Loop] = []
        if self.accept("for"):
            while not loops or self.accept(","):
                loops.append(self.loop())
        lets: dict[str, Expression] = {}
        while self.accept("let"):
            name = self.identifier()
            self.expect("=")
            lets[name] = self.expression()
        guards: list[Expression] = []
        where = self.start
        if self.accept("where"):
            while not guards or self.accept(","):
                guards.append(self.expression())
        where_at = (where, self.end if guards else where)
        targets = [self.target()]
        if self.accept(","):
            targets.append(self.target())
        assign_at = self.tokens[self.position][2]
        assign = self.next()
        values = [self.expression()]
        if self.accept(","):
            values.append(self.expression())
        init = self.expression() if self.accept("init") else None
        otherwise = self.expression() if self.accept("else") else None
        self.expect("}")
        return Kernel(
            (start, self.end),
            types,
            tuple(loops),
            lets,
            tuple(guards),
            where_at,
            tuple(targets),
            assign,
            assign_at,
            tuple(values),
            init,
            otherwise,
        )

    def loop(self) -> Loop:
        if self.accept("*"):
            name = self.identifier()
            self.expect(":")
            start = self.start
            self.expect("*")
            return Loop(name, Pack((start, self.tokens[self.position][2][1]), self.identifier()))
        order = self.next() if self.word in ("seq", "revseq") else ""
        name = self.identifier()
        self.expect(":")
        return Loop(name, self.expression(), order)

    def target(self) -> Target:
        start = self.start
        name = self.identifier()
        self.expect("[")
        subscripts = self.subscripts()
        return Target((start, self.end), name, subscripts)

    def view(self, start: int) -> View:
        output = self.identifier()
        self.expect("=")
        source = self.identifier()
        self.expect("{")
        left = self.axes("->")
        right = self.axes("}")
        return View((start, self.end), output, source, left, right)

    def axes(self, closing: str) -> tuple[Axis, ...]:
        found = []
        while not self.accept(closing):
            start = self.start
            if self.accept("("):
                group = self.axes(")")
                found.append(Axis((start, self.end), group=group))
            elif self.accept("*"):
                name = self.identifier()
                found.append(Axis((start, self.end), name, pack=True))
            elif self.accept("1"):
                found.append(Axis((start, self.end), "1"))
            else:
                name = self.identifier()
                extent = self.expression() if self.accept(":") else None
                found.append(Axis((start, self.end), name, extent))
            self.accept(",")
        return tuple(found)

    def slice(self, start: int) -> Slice:
        output = self.identifier()
        self.expect("=")
        source = self.identifier()
        self.expect("[")
        items = []
        while not self.accept("]"):
            items.append(self.item())
            self.accept(",")
        return Slice((start, self.end), output, source, tuple(items))

    def item(self) -> Item:
        if self.accept("..."):
            return Item("...")
        if self.accept("reverse"):
            return Item("reverse")
        begin = None if self.word == ":" else self.expression()
        if not self.accept(":"):
            return Item("index", begin)
        stop = None if self.word in (":", ",", "]") else self.expression()
        step = self.expression() if self.accept(":") else None
        return Item("range", begin, stop, step)

    def apply(self, start: int) -> Apply:
        results = []
        if self.accept("("):
            while not self.accept(")"):
                results.append(self.identifier())
                self.accept(",")
        else:
            results.append(self.identifier())
        self.expect("=")
        function_at = self.tokens[self.position][2]
        function = self.identifier()
        if function in ("repeat", "while", "if"):
            raise UnreadableError(f"statement {function!r}")
        self.expect("(")
        arguments: list[Expression] = []
        attributes: dict[str, Expression] = {}
        while self.word not in (";", ")"):
            arguments.append(self.expression())
            self.accept(",")
        if self.accept(";"):
            while self.word != ")":
                name = self.identifier()
                self.expect("=")
                attributes[name] = self.expression()
                self.accept(",")
        self.expect(")")
        return Apply((start, self.end), tuple(results), function, function_at, tuple(arguments), attributes)

    # --- expressions ----------------------------------------------------------------------------------

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


def read(text: str) -> File:
    """Text -> functions and program. Raises `UnreadableError`."""
    return Reader(text).file()
