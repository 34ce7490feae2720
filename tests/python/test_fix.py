"""`solar fix`: what it applies, when it stops, and where it writes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Solar

MISSPELLED = textwrap.dedent("""\
    program p(input rows: f32[N]) -> (y) {
      dims N = 4
      let a = relux(row)  # kept
      kernel y: f32[N] { for n:N   y[n] = a[n] + a[n + 1] }
    }
    """)


def test_fixes_that_may_not_be_meant_need_all(solar: Solar) -> None:
    path = solar.directory / "f.alir"
    path.write_text(MISSPELLED)
    done = solar("fix", "f.alir")
    assert done.returncode == 1
    assert path.read_text() == MISSPELLED
    assert "may be fixed by `solar fix --all`" in done.stderr


def test_errors_that_come_to_light_are_fixed_too(solar: Solar) -> None:
    path = solar.directory / "f.alir"
    path.write_text(MISSPELLED)
    done = solar("fix", "--all", "f.alir")
    assert done.returncode == 0, done.stderr
    text = path.read_text()
    assert "let a = relu(rows)  # kept" in text
    assert "where 0 <= n + 1 < N   y[n] = a[n] + a[n + 1] else 0 }" in text
    assert done.stderr.count("replaced") == 2
    assert solar("check", "f.alir").returncode == 0


def test_a_guess_that_leads_to_another_error_there_is_not_kept(solar: Solar) -> None:
    # The bracket is missing behind `u`: one at the end of the line makes another wrong text.
    text = textwrap.dedent("""\
        program p(input x: f32[N], input w: f32[N]) -> (y) {
          dims N = 4
          kernel y: f32[N] { for n:N   y[n] = x[n * w[n] }
        }
        """)
    (solar.directory / "f.alir").write_text(text)
    done = solar("fix", "--all", "--stdout", "f.alir")
    assert done.returncode == 1
    assert "kernel y" in done.stdout, "no second guess upon the first"


def test_standard_input_is_answered_on_standard_output(solar: Solar) -> None:
    done = solar("fix", "--all", "-", stdin=MISSPELLED)
    assert done.returncode == 0, done.stderr
    assert "relu(rows)" in done.stdout
    correct = solar("fix", "-", stdin=done.stdout)
    assert (correct.returncode, correct.stdout) == (0, done.stdout)
    formatted = solar("fmt", "-", stdin=done.stdout)
    assert formatted.returncode == 0
    assert formatted.stdout.startswith("program p(input rows: f32[N]) -> (y) {\n")


def test_a_file_named_like_one_of_the_prelude_is_not_taken_for_it(solar: Solar) -> None:
    (solar.directory / "prelude").mkdir()
    path = solar.directory / "prelude" / "reduction.alir"
    text = "# a long comment, as long as the prelude's text\n" * 60 + (
        "program p(input i: i64[N]) -> (d) { dims N = 4 let d = mean1(i) }\n"
    )
    path.write_text(text)
    done = solar("fix", "--all", "prelude/reduction.alir")
    assert done.returncode == 1
    assert path.read_text() == text
