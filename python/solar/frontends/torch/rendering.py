"""From the builder's statements to text: liveness, final names, layout."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.names import Namespace, identifier

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Program

_TOKEN = re.compile(r"<\d+>")
_WIDTH = 100


def render(builder: Builder) -> Program:
    return _Renderer(builder).program()


class _Renderer:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.names: dict[str, str] = {}
        self.namespace = Namespace()

    def program(self) -> Program:
        from solar.frontends.torch.builder import Program

        b = self.builder
        live, dropped = self._live()
        ports = [p for p in b._ports if p.role in ("input", "state", "rng") or p.value.token in live]
        for port in ports:
            self.names[port.value.token] = self.namespace.claim(port.name)
        program_name = identifier(b._name)
        groups = [(g, [s for s in g.statements if any(d in live for d in s.defines)]) for g in b._groups]
        for _, statements in groups:
            for statement in statements:
                for token in statement.defines:
                    self._name(token)
        body: list[str] = []
        for group, statements in groups:
            body += self._group(group, statements)
        for state, value in b._updates:
            body.append(f"  update {self._text(state)} = {self._text(value)}")
        signature = self._signature(program_name, ports)
        used = [t for t in b._dims if self._is_used(t)]
        dims = _wrapped("  dims ", [f"{self._text(t)} = {b._dims[t]}" for t in used])
        lines = [*signature, *dims, *body, "}"]
        outputs = tuple(self.names[t] for t in b._outputs)
        return Program(
            text="\n".join(lines) + "\n",
            port_names={p.value: self.names[p.value.token] for p in ports},
            output_names=outputs,
            updates={self.names[s]: self.names[v] for s, v in b._updates},
            roles={p.value: p.role for p in ports},
            dropped=dropped,
        )

    def _live(self) -> tuple[set[str], int]:
        """Tokens of values that reach an output, and the number of operators that do not."""
        b = self.builder
        live = set(b._outputs) | {v for _, v in b._updates}
        dropped = 0
        for group in reversed(b._groups):
            any_live = False
            for statement in reversed(group.statements):
                if any(d in live for d in statement.defines):
                    live.update(statement.uses)
                    any_live = True
            if not any_live and any(not s.is_view for s in group.statements):
                dropped += 1
        return live, dropped

    def _name(self, token: str) -> str:
        """The final name of a token, claimed when it is first asked for."""
        known = self.names.get(token)
        if known is not None:
            return known
        base, suffix = self.builder._hints[token]
        if _TOKEN.fullmatch(base):
            base = self._name(base)
        name = self.namespace.claim(f"{base}_{suffix}" if suffix else base)
        self.names[token] = name
        return name

    def _text(self, text: str) -> str:
        return _TOKEN.sub(lambda match: self._name(match.group()), text)

    def _is_used(self, token: str) -> bool:
        return token in self.names

    def _signature(self, name: str, ports: Iterable[Port]) -> list[str]:
        b = self.builder
        items: list[str] = []
        for port in ports:
            value = port.value
            shape = ", ".join(self._text(b.extent(value, axis)) for axis in range(value.rank))
            item = f"{port.role} {self.names[value.token]}: {type_name(value.dtype)}[{shape}]"
            if port.role == "const":
                item += " = [" + ", ".join(literal(v) for v in port.values) + "]"
            items.append(item)
        results = ", ".join(self.names[t] for t in b._outputs)
        return _wrapped(f"program {name}(", items, f") -> ({results}) {{", indent="    ")

    def _group(self, group: Group, statements: list[Statement]) -> list[str]:
        texts = [self._text(s.text) for s in statements]
        if all(s.is_view for s in statements):
            return [f"  {text}" for text in texts]
        head = f'  op "{group.operator}"'
        if group.at:
            head += f' at "{_quotable(group.at)}"'
        if group.module:
            head += f' module "{_quotable(group.module)}"'
        if group.nominal:
            head += f" nominal {self._text(group.nominal)}"
        if len(texts) == 1 and len(head) + len(texts[0]) + 6 <= _WIDTH:
            return [f"{head} {{ {texts[0]} }}"]
        return [f"{head} {{", *(f"    {text}" for text in texts), "  }"]


def _quotable(text: str) -> str:
    return text.replace('"', "'").replace("\\", "/")


def _wrapped(head: str, items: list[str], tail: str = "", indent: str = "       ") -> list[str]:
    """`head item, item, ... tail` over as many lines as it takes."""
    if not items:
        return [head + tail] if tail else []
    lines: list[str] = []
    line = head
    for position, item in enumerate(items):
        text = item + ("," if position + 1 < len(items) else tail)
        if line not in (head, indent) and len(line) + len(text) + 1 > _WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += text if line in (head, indent) else f" {text}"
    lines.append(line)
    return lines
