"""What lifting and bounding a large graph takes: python bench/large_graphs.py [NODES] [BINARY].

Runs `solar analyze` on a program of NODES nodes of a few structures, and on one in which no two are alike.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import front

ROOT = front.ROOT


def distinct(nodes: int) -> str:
    """Blocks of four nodes, each block with an extent of its own."""
    blocks = nodes // 4
    ports = ", ".join(f"input x{i}: f32[{7 + i}, K]" for i in range(blocks))
    lines = [
        f"program distinct({ports}, param w: f32[N, K], input s0: f32[]) -> (s{blocks}) {{",
        "  dims N = 24, K = 16",
    ]
    for i in range(blocks):
        rows = 7 + i
        lines += [
            f'  op "aten.linear" at "model.py:{i}" {{',
            f"    kernel a{i}: f32[{rows}, N] {{ for r:{rows}, n:N, k:K   a{i}[r,n] += x{i}[r,k] * w[n,k] }}",
            "  }",
            f'  op "aten.relu" at "model.py:{i}" {{',
            f"    kernel b{i}: f32[{rows}, N] {{ for r:{rows}, n:N   b{i}[r,n] = max(a{i}[r,n], 0) }}",
            "  }",
            f'  op "aten.sum" at "model.py:{i}" {{',
            f"    kernel c{i}: f32[{rows}] {{ for r:{rows}, n:N where n <= r   c{i}[r] += b{i}[r,n] }}",
            "  }",
            f'  op "aten.add" at "model.py:{i}" {{',
            f"    kernel s{i + 1}: f32[] {{ for r:{rows}   s{i + 1}[] += c{i}[r] + s{i}[] }}",
            "  }",
        ]
    return "\n".join([*lines, "}"]) + "\n"


def analyze(binary: Path, source: Path, *options: str) -> str:
    command = [binary, "analyze", source, "--no-validate", "--arch", "h100-sxm,a6000,b200,thor", *options]
    process = subprocess.Popen(command, env={**os.environ, "SOLAR_ROOT": str(ROOT)}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"analyze failed on {source.name}")
    return f"{usage.ru_utime:.2f} s user, {usage.ru_stime:.2f} s system, {usage.ru_maxrss / 1024:.0f} MiB"


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    binary = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build/release/solar"
    with tempfile.TemporaryDirectory() as folder:
        for name, program in (("of a few structures", front.program), ("all distinct", distinct)):
            for size in (nodes // 10, nodes):
                source = Path(folder) / "graph.alir"
                source.write_text(program(size))
                print(f"{size} nodes {name}: {analyze(binary, source)}", flush=True)
                print(f"  with JSON: {analyze(binary, source, '--json', f'{folder}/report.json')}", flush=True)


if __name__ == "__main__":
    main()
