"""How fast a large program is parsed and verified: python bench/front.py [NODES] [BINARY].

Writes a program of NODES kernels, views and calls, then runs `solar check` on it and on a tenth of it.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def program(nodes: int) -> str:
    """A chain of blocks of eight nodes, as a traced transformer has them, four lines a node or fewer."""
    lines = [
        "program chain(input x: f32[B, S, D], param w: f32[D, D], param g: f32[D]) -> (y) {",
        "  dims B = 2, S = 16, H = 4, E = 8, D = H*E",
    ]
    last = "x"
    for block in range(nodes // 8):
        n = f"n{block}"
        lines += [
            f'  op "aten.linear" at "model.py:{block}" module "blocks.{block}.fc" nominal B*S*D*D {{',
            f"    kernel {n}a: f32[B, S, D] {{",
            f"      for b:B, s:S, n:D, k:D   {n}a[b,s,n] += {last}[b,s,k] * w[n,k]",
            "    }",
            "  }",
            f'  op "aten.add" at "model.py:{block}" {{',
            f"    kernel {n}b: f32[B, S, D] {{ for b:B, s:S, n:D   {n}b[b,s,n] = {n}a[b,s,n] + g[n] }}",
            "  }",
            f"  view {n}c = {n}b {{ b, s, (h:H, e) -> b, h, s, e }}",
            f'  op "aten.scores" at "model.py:{block}" {{',
            f"    kernel {n}d: f32[B, H, S, S] {{",
            "      for b:B, h:H, i:S, j:S, e:E",
            "      where j <= i",
            f"      {n}d[b,h,i,j] += {n}c[b,h,i,e] * {n}c[b,h,j,e]",
            "    }",
            "  }",
            f"  slice {n}e = {n}d[:, :, :, 0:E]",
            f"  view {n}f = {n}e {{ b, h, s, e -> b, s, (h, e) }}",
            f'  op "aten.relu" at "model.py:{block}" {{ let {n}g = relu({n}f) }}',
            f'  op "aten.add" at "model.py:{block}" {{ let {n}h = add({n}g, {last}) }}',
        ]
        last = f"{n}h"
    lines += [f"  view y = {last} {{ b, s, d -> b, s, d }}", "}"]
    return "\n".join(lines) + "\n"


def check(binary: Path, nodes: int, folder: Path) -> tuple[int, float, int]:
    """Lines, CPU seconds, and the peak in bytes."""
    text = program(nodes)
    path = folder / f"chain{nodes}.alir"
    path.write_text(text)
    process = subprocess.Popen(
        [binary, "check", path], env={**os.environ, "SOLAR_ROOT": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"check failed on {nodes} nodes")
    return text.count("\n"), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    binary = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build/release/solar"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        for size in (8, nodes // 10, nodes):
            lines, seconds, peak = check(binary, size, Path(folder))
            print(
                f"{size} nodes, {lines} lines: {seconds:.3f} s, {lines / seconds:.0f} lines/s, {peak / 2**20:.0f} MiB"
            )


if __name__ == "__main__":
    main()
