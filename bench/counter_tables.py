"""What FLOP counters gave on problems, as tables.

A result is plausible if the tool ends without an error and counts more than 0, and at least half but less than twice
the contractions where there are any (by FlopCounterMode; in the tool's unit, MACs or FLOPs).
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Count = int | str  # or the error
Counts = dict[str, dict[str, Count]]  # by problem, by tool
Run = dict[str, dict[str, Any]]  # totals of `solar suite`, by problem

COUNT_FLOPS = {"FlopCounterMode", "calflops"}  # the others count MACs
MISSES = (
    "raised an error",
    "beyond a limit",
    "0, no contraction in the problem",
    "0, with contractions",
    "less than half",
    "twice or more",
)


def read(path: Path) -> Counts:
    counts: Counts = {}
    if path.exists():
        for line in path.read_text().splitlines():
            known = json.loads(line)
            counts.setdefault(known["problem"], {}).update(known["counts"])
    return counts


def totals_of(run: Path) -> Run:
    """What `solar suite` counted of each problem."""
    reports = run / "reports"
    found = sorted(reports.rglob("*.json"))
    return {str(p.relative_to(reports))[: -len(".json")]: json.loads(p.read_text())["totals"] for p in found}


def contractions(tools: dict[str, Count]) -> int:
    """In MACs; 0 also where the oracle has no count."""
    flops = tools.get("FlopCounterMode")
    return flops // 2 if isinstance(flops, int) else 0


def miss(count: Count, per_mac: int, macs: int) -> str | None:
    """Why a count is not plausible beside so many MACs of contractions, one of MISSES, or None."""
    if isinstance(count, str):
        return "beyond a limit" if count.startswith("limit") or "memory" in count else "raised an error"
    if count <= 0:
        return "0, with contractions" if macs else "0, no contraction in the problem"
    if not macs:
        return None
    if count * 2 < macs * per_mac:
        return "less than half"
    return "twice or more" if count >= 2 * macs * per_mac else None


def miss_of(tool: str, tools: dict[str, Count]) -> str | None:
    return miss(tools[tool], 2 if tool in COUNT_FLOPS else 1, contractions(tools))


def miss_of_solar(totals: dict[str, Any], tools: dict[str, Count]) -> str | None:
    return miss(totals["macs"] or totals["elementwise_ops"] + totals["special_ops"], 1, contractions(tools))


def level(name: str) -> str:
    return str(Path(name).parent)


def row(cells: list[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(head: list[str], rows: list[list[Any]]) -> str:
    return "\n".join([row(head), "|---" * len(head) + "|", *map(row, rows)])


def tools_of(counts: Counts) -> list[str]:
    return list({tool: None for tools in counts.values() for tool in tools})


def coverage(counts: Counts, run: Run | None) -> str:
    """By tool and level: problems with a number above 0, and with a plausible one."""
    levels = sorted({level(name) for name in counts})
    names = {one: [name for name in counts if level(name) == one] for one in levels}
    rows = []
    for tool in tools_of(counts):
        cells: list[Any] = [tool]
        for one in levels:
            answers = [counts[name] for name in names[one] if tool in counts[name]]
            numbers = sum(isinstance(tools[tool], int) and tools[tool] != 0 for tools in answers)
            cells.append(f"{numbers} / {sum(miss_of(tool, tools) is None for tools in answers)}")
        rows.append(cells)
    if run is not None:
        cells = ["solar"]
        for one in levels:
            counted = [name for name in names[one] if name in run]
            cells.append(f"{len(counted)} / {sum(miss_of_solar(run[name], counts[name]) is None for name in counted)}")
        rows.append(cells)
    return table(["tool", *(f"{one} (of {len(names[one])})" for one in levels)], rows)


def misses(counts: Counts) -> str:
    rows = []
    for tool in tools_of(counts):
        found = Counter(miss_of(tool, tools) for tools in counts.values() if tool in tools)
        rows.append([tool, *(found[kind] for kind in MISSES)])
    return table(["tool", *MISSES], rows)


def differences(counts: Counts, run: Run) -> str:
    compared, different = 0, []
    for name, tools in counts.items():
        flops, macs = tools.get("FlopCounterMode"), run.get(name, {}).get("macs")
        if not isinstance(flops, int) or flops == 0 or macs is None:
            continue
        compared += 1
        if macs * 2 != flops:
            different.append(f"  {name}: {macs}, FlopCounterMode / 2: {flops / 2:.0f} ({2 * macs / flops - 1:+.3%})")
    return "\n".join([f"MACs equal FlopCounterMode / 2 on {compared - len(different)} of {compared}", *different])


def everything(counts: Counts, run_folder: Path | None) -> str:
    run = totals_of(run_folder) if run_folder else None
    parts = [
        "a number above 0 / a plausible one",
        coverage(counts, run),
        "results that are not plausible",
        misses(counts),
    ]
    if run is not None:
        parts.append(differences(counts, run))
    return "\n\n".join(parts)
