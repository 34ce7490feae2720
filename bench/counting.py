"""How long counting a node takes: python bench/counting.py [--server BINARY] [--rounds N] [FILE.alir ..]

Lifts calls of prelude functions at the sizes of real models, and the given programs, and prints the median time of a
node of each, and over all of them: everything `lift` does to a program, divided by its nodes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

IMAGE = "x: f32[32, 64, 56, 56]"
HEADS = "q: f32[8, 16, 2048, 64], k: f32[8, 16, 2048, 64], v: f32[8, 16, 2048, 64]"
CALLS = {
    "conv2d 3x3": (f"{IMAGE}, w: f32[64, 64, 3, 3]", "conv2d(x, w; SH = 1, SW = 1, PH = 1, PW = 1, DH = 1, DW = 1)"),
    "conv2d 7x7, stride 2": (
        "x: f32[32, 3, 224, 224], w: f32[64, 3, 7, 7]",
        "conv2d(x, w; SH = 2, SW = 2, PH = 3, PW = 3, DH = 1, DW = 1)",
    ),
    "conv2d dilated": (
        f"{IMAGE}, w: f32[64, 64, 3, 3]",
        "conv2d(x, w; SH = 1, SW = 1, PH = 4, PW = 4, DH = 4, DW = 4)",
    ),
    "conv2d depthwise": (
        "x: f32[32, 64, 1, 56, 56], w: f32[64, 1, 1, 3, 3]",
        "grouped_conv2d(x, w; SH = 1, SW = 1, PH = 1, PW = 1, DH = 1, DW = 1)",
    ),
    "conv3d": (
        "x: f32[4, 16, 16, 56, 56], w: f32[32, 16, 3, 3, 3]",
        "conv3d(x, w; SZ = 1, SH = 1, SW = 1, PZ = 1, PH = 1, PW = 1, DZ = 1, DH = 1, DW = 1)",
    ),
    "conv2d transposed": (
        "x: f32[8, 1, 64, 28, 28], w: f32[1, 64, 32, 4, 4]",
        "conv_transpose2d(x, w; SH = 2, SW = 2, AH = 1, AW = 1, LH = 1, LW = 1, EH = 0, EW = 0)",
    ),
    "max pool": (
        "x: f32[32, 64, 112, 112]",
        "max_pool2d(x; R = 3, Q = 3, SH = 2, SW = 2, PH = 1, PW = 1, DH = 1, DW = 1, CH = 0, CW = 0)",
    ),
    "average pool": (
        "x: f32[32, 64, 112, 112]",
        "avg_pool2d_counted(x; R = 3, Q = 3, SH = 2, SW = 2, PH = 1, PW = 1, CH = 1, CW = 1, MH = 0, MW = 0)",
    ),
    "adaptive pool": ("x: f32[32, 64, 50, 50]", "adaptive_avg_pool2d(x; U = 7, V = 7)"),
    "linear": ("x: f32[8, 2048, 1024], w: f32[4096, 1024], b: f32[4096]", "linear_bias(x, w, b)"),
    "attention": (HEADS, "sdpa(q, k, v, 0.125)"),
    "attention, causal": (HEADS, "sdpa_causal(q, k, v, 0.125)"),
    "attention, window": (HEADS, "sdpa_window(q, k, v, 0.125; W = 512)"),
    "attention, grouped": (
        "q: f32[8, 32, 2048, 64], k: f32[8, 8, 2048, 64], v: f32[8, 8, 2048, 64]",
        "gqa_causal(q, k, v, 0.125)",
    ),
    "layer norm": ("x: f32[8, 2048, 1024], g: f32[1024], b: f32[1024]", "layer_norm(x, g, b, 0.00001)"),
    "softmax": ("x: f32[8, 16, 2048, 2048]", "softmax(x)"),
    "lower triangle": ("x: f32[16, 2048, 2048]", "tril(x; UP = 0, DOWN = 0)"),
    "cubic resize": ("x: f32[8, 3, 224, 224]", "resize_cubic(x; Q = 448, A = 1, B = 0, C = 2)"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--server", default="build/release/solar_bench")
    parser.add_argument("--rounds", type=int, default=51)
    options = parser.parse_args()
    server = subprocess.Popen([options.server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin
    assert server.stdout
    all_times = []
    print(f"medians of {options.rounds} rounds\n\n| program | microseconds a node |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        programs = {file.stem: file for file in options.files}
        for name, (ports, call) in CALLS.items():
            inputs = ", ".join(f"input {port}" for port in ports.replace("], ", "];").split(";"))
            programs[name] = Path(f"{folder}/{len(programs)}.alir")
            programs[name].write_text(f"program p({inputs}) -> (y) {{\n  let y = {call}\n}}\n")
        for name, file in programs.items():
            server.stdin.write(f"count {file} {options.rounds}\n")
            server.stdin.flush()
            answer = server.stdout.readline().strip()
            if not answer or answer.startswith("error"):
                raise RuntimeError(f"{name}: {answer or 'the server is gone'}")
            all_times.append(float(answer.split()[1]) * 1e6)
            print(f"| {name} | {all_times[-1]:.1f} |", flush=True)
    print(f"| **median of these** | **{statistics.median(all_times):.1f}** |")


if __name__ == "__main__":
    main()
