"""The report in the README is the program's own, apart from the validation's error figures."""

import os
from pathlib import Path

BEGIN = "<!-- report: ./solar analyze examples/resnet18.py --arch h100-sxm -->"
END = "<!-- end of report -->"


def body(lines: list[str]) -> list[str]:
    """The lines that do not depend on the machine's arithmetic: the answer, and all from the assumptions on."""
    start = next(i for i, line in enumerate(lines) if line.startswith("assuming"))
    first = next(i for i, line in enumerate(lines) if line.startswith(("validated", "NOT VALIDATED")))
    return lines[:first] + lines[start:]


def test_report_in_readme_is_fresh(solar, root: Path) -> None:
    result = solar("analyze", "examples/resnet18.py", "--arch", "h100-sxm", directory=root)
    assert result.returncode == 0, result.stderr
    readme = root / "README.md"
    text = readme.read_text()
    before, rest = text.split(BEGIN)
    block, after = rest.split(END)
    if os.environ.get("SOLAR_UPDATE_GOLDENS") == "1":
        readme.write_text(before + BEGIN + "\n```text\n" + result.stdout + "```\n" + END + after)
        return
    shown = block.strip().removeprefix("```text\n").removesuffix("```").splitlines()
    assert body(shown) == body(result.stdout.splitlines())
