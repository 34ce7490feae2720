"""From a draft to text: liveness, final names, layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from solar.frontends.torch.draft import Draft, Group, Port, Program, Statement, literal
from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.names import Namespace, identifier

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(r"<\d+>")
_WIDTH = 100
_ALWAYS_PORTS = ("input", "state", "rng")


def render(draft: Draft) -> Program:
    """The draft's text. What reaches no output or state is left out, inputs and random numbers excepted."""
    return _Renderer(draft).program()


class _Renderer:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.names: dict[str, str] = {}
        self.namespace = Namespace()

    def program(self) -> Program:
        draft = self.draft
        live, dropped = self._live()
        ports = [p for p in draft.ports if p.role in _ALWAYS_PORTS or p.value.token in live]
        for port in ports:
            self.names[port.value.token] = self.namespace.claim(port.name)
        groups = [(g, [s for s in g.statements if not live.isdisjoint(s.defines)]) for g in draft.groups]
        for _, statements in groups:
            for statement in statements:
                for token in statement.defines:
                    self._name(token)
        signature = self._signature(ports)
        body = [line for group, statements in groups for line in self._group(group, statements)]
        body += [f"  update {self._text(state)} = {self._text(value)}" for state, value in draft.updates]
        used = [token for token in draft.dims if token in self.names]
        dims = _wrapped("  dims ", [f"{self.names[t]} = {draft.dims[t]}" for t in used], indent=" " * 7)
        return Program(
            text="\n".join([*signature, *dims, *body, "}"]) + "\n",
            names=self.names,
            port_names={p.value: self.names[p.value.token] for p in ports},
            output_names=tuple(self.names[t] for t in draft.outputs),
            updates={self.names[s]: self.names[v] for s, v in draft.updates},
            roles={p.value: p.role for p in ports},
            dropped=dropped,
        )

    def _live(self) -> tuple[set[str], int]:
        """Tokens of values that reach an output or state, and the number of operators that do not."""
        draft = self.draft
        live = {*draft.outputs, *(value for _, value in draft.updates)}
        dropped = 0
        for group in reversed(draft.groups):
            any_live = False
            for statement in reversed(group.statements):
                if not live.isdisjoint(statement.defines):
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
        base, suffix = self.draft.hints[token]
        if _TOKEN.fullmatch(base):
            base = self._name(base)
        if suffix == base:
            suffix = "inner"
        name = self.namespace.claim(f"{base}_{suffix}" if suffix else base)
        self.names[token] = name
        return name

    def _text(self, text: str) -> str:
        return _TOKEN.sub(lambda match: self._name(match.group()), text)

    def _signature(self, ports: Sequence[Port]) -> list[str]:
        items: list[str] = []
        for port in ports:
            value = port.value
            shape = ", ".join(self._text(self.draft.extent(value, axis)) for axis in range(value.rank))
            item = f"{port.role} {self.names[value.token]}: {type_name(value.dtype)}[{shape}]"
            if port.role == "const":
                item += " = [" + ", ".join(literal(v) for v in port.values) + "]"
            items.append(item)
        results = ", ".join(self.names[t] for t in self.draft.outputs)
        return _wrapped(f"program {identifier(self.draft.name)}(", items, f") -> ({results}) {{", indent=" " * 4)

    def _group(self, group: Group, statements: Sequence[Statement]) -> list[str]:
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


def _wrapped(head: str, items: Sequence[str], tail: str = "", *, indent: str) -> list[str]:
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
