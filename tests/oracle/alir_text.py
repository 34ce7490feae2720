"""A small reader of Affine Loop IR text, written apart from the project's own parser.

Every node keeps where it stands in the text, so that the mutation tests can cut into the text itself. It accepts what
the evaluator beside it can run and raises `UnreadableError` on the rest.
"""

from .alir_nodes import (
    Apply,
    Axis,
    Dims,
    Expression,
    File,
    Function,
    If,
    Item,
    Kernel,
    Loop,
    Next,
    Opaque,
    Pack,
    Port,
    Program,
    Repeat,
    Require,
    Slice,
    Statement,
    Target,
    Test,
    Type,
    UnreadableError,
    Update,
    View,
    While,
)
from .alir_tokens import ExpressionReader

ROLES = ("input", "param", "buffer", "state", "const", "rng")


class Reader(ExpressionReader):
    """Files, functions and statements."""

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
            elif keyword in ("kernel", "indexed", "scatter"):
                statements.append(self.kernel(start, keyword == "scatter"))
            elif keyword == "view":
                statements.append(self.view(start))
            elif keyword == "slice":
                statements.append(self.slice(start))
            elif keyword == "let":
                statements.append(self.let(start))
            elif keyword == "next":
                values = () if self.word == "stack" else self.names()
                stacked = self.names() if self.accept("stack") else ()
                statements.append(Next((start, self.end), values, stacked))
            elif keyword == "test":
                statements.append(Test((start, self.end), self.identifier()))
            elif keyword in ("hole", "opaque"):
                statements.append(self.opaque(start, keyword == "hole"))
            elif keyword == "dims":
                dims: dict[str, Expression] = {}
                while not dims or self.accept(","):
                    name = self.identifier()
                    self.expect("=")
                    dims[name] = self.expression()
                statements.append(Dims((start, self.end), dims))
            elif keyword == "require":
                statements.append(Require((start, self.end), self.expression()))
            elif keyword == "update":
                state = self.identifier()
                self.expect("=")
                statements.append(Update((start, self.end), state, self.identifier()))
            else:
                raise UnreadableError(f"statement {keyword!r}")
        return tuple(statements)

    def kernel(self, start: int, scatter: bool) -> Kernel:
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
        init, otherwise, base, unique = None, None, None, False
        while not self.accept("}"):
            if self.accept("init"):
                init = self.expression()
            elif self.accept("base"):
                self.accept("donated")
                base = self.identifier()
            elif self.accept("unique"):
                unique = True
            else:
                self.expect("else")
                otherwise = self.expression()
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
            scatter,
            base,
            unique,
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
        extent = self.expression()
        if not self.accept("in"):
            return Loop(name, extent, order)
        begin = self.expression()
        self.expect("..")
        return Loop(name, extent, order, begin, self.expression())

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
        if self.accept("at"):
            tensor = self.expression()
            self.expect("size")
            return Item("at", tensor, self.expression())
        begin = None if self.word == ":" else self.expression()
        if not self.accept(":"):
            return Item("index", begin)
        stop = None if self.word in (":", ",", "]") else self.expression()
        step = self.expression() if self.accept(":") else None
        return Item("range", begin, stop, step)

    def names(self) -> tuple[str, ...]:
        """One name, or a list of them in parentheses."""
        if not self.accept("("):
            return (self.identifier(),)
        found = []
        while not self.accept(")"):
            found.append(self.identifier())
            self.accept(",")
        return tuple(found)

    def let(self, start: int) -> Statement:
        results = () if self.word == "stack" else self.names()
        stacks = self.names() if self.accept("stack") else ()
        self.expect("=")
        if self.accept("repeat"):
            descending = self.accept("revseq")
            step = self.identifier()
            self.expect(":")
            extent = self.expression()
            carried = self.carried()
            body = self.block()
            return Repeat((start, self.end), results, stacks, step, extent, descending, carried, body)
        if self.accept("while"):
            self.expect("limit")
            limit = self.expression()
            carried = self.carried()
            return While((start, self.end), results, limit, carried, self.block())
        if self.accept("if"):
            condition = self.identifier()
            taken = self.block()
            self.expect("else")
            return If((start, self.end), results, condition, taken, self.block())
        return self.apply(start, results)

    def carried(self) -> tuple[tuple[str, Expression], ...]:
        self.expect("with")
        self.expect("(")
        found = []
        while not self.accept(")"):
            name = self.identifier()
            self.expect("=")
            found.append((name, self.expression()))
            self.accept(",")
        return tuple(found)

    def apply(self, start: int, results: tuple[str, ...]) -> Apply:
        function_at = self.tokens[self.position][2]
        function = self.identifier()
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
        if self.accept("module"):
            self.string()
        return Apply((start, self.end), results, function, function_at, tuple(arguments), attributes)

    def opaque(self, start: int, hole: bool) -> Opaque:
        types: dict[str, Type] = {}
        several = self.accept("(")
        while not types or self.accept(","):
            name = self.identifier()
            self.expect(":")
            types[name] = self.type()
        if several:
            self.expect(")")
        self.expect("=")
        operator = self.string()
        self.expect("(")
        arguments = []
        while not self.accept(")"):
            arguments.append(self.expression())
            self.accept(",")
        while self.word in ("macs", "nominal", "reads", "writes"):
            self.next()
            self.expression()
        return Opaque((start, self.end), hole, types, operator, tuple(arguments))


def read(text: str) -> File:
    """Text -> functions and program. Raises `UnreadableError`."""
    return Reader(text).file()
