"""scripts/check_layers.py on small trees."""

import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def check(tree: Path, files: dict[str, str]) -> tuple[int, list[str]]:
    (tree / "src").mkdir()
    (tree / "tools").mkdir()
    (tree / "src" / "layers.txt").write_text("# in order\nbase\nir\narch\n")
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    command = [sys.executable, ROOT / "scripts" / "check_layers.py", tree]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_includes_of_the_same_and_earlier_stages_are_fine(tmp_path: Path) -> None:
    files = {
        "src/ir/a.cpp": '#include "ir/b.h"\n#include "base/c.h"\n#include <vector>\n',
        "src/arch/a.cpp": '#include <toml++/toml.h>\n#include "ir/b.h"\n',
        "tools/solar/main.cpp": '#include <CLI/CLI.hpp>\n#include "arch/a.h"\n',
    }
    assert check(tmp_path, files) == (0, [])


def test_every_violation_is_listed(tmp_path: Path) -> None:
    files = {
        "src/base/a.h": '#pragma once\n  #  include "ir/b.h"\n',
        "src/ir/x/b.cpp": '#include "../a.h"\n#include <toml++/toml.h>\n',
        "src/other/c.h": "",
        "src/arch/d.cpp": "#include <CLI/CLI.hpp>\n#include <zip.h>\n",
    }
    code, lines = check(tmp_path, files)
    assert code == 1
    assert lines == [
        "src/other: the folder is not in src/layers.txt",
        "src/arch/d.cpp:1: <CLI/CLI.hpp> may be included only in tools/",
        "src/arch/d.cpp:2: <zip.h> may be included only in src/exec/",
        "src/base/a.h:2: stage `base` includes `ir/b.h` of the later stage `ir`",
        "src/ir/x/b.cpp:1: `../a.h` is relative: include by the path below src/",
        "src/ir/x/b.cpp:2: <toml++/toml.h> may be included only in src/arch/",
    ]


def test_this_repository() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "check_layers.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
