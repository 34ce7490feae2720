"""The program and its workers: interrupted or killed, nothing is left running and no file half-written."""

from __future__ import annotations

import signal
import textwrap
from typing import TYPE_CHECKING

import pytest
from zygote_client import alive, ends, wait_for_file

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar


def descendants(pid: int) -> list[int]:
    from solar.limits import tree_of

    return tree_of(pid)[1:]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, None), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_process_outlives_the_program(
    solar: Solar, tmp_path: Path, number: signal.Signals, status: int | None
) -> None:
    note = tmp_path / "pid"
    source = tmp_path / "hangs.py"
    source.write_text(
        textwrap.dedent(f"""
            import os, subprocess, time
            import torch
            class Model(torch.nn.Module):
                def forward(self, x):
                    child = subprocess.Popen(['sleep', '1000'], start_new_session=True)
                    open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}' + chr(10))
                    time.sleep(1000)
            def get_inputs():
                return [torch.randn(2, 3)]
        """)
    )
    process = solar.start("trace", source, "-o", "out.alir")
    pids = [*map(int, wait_for_file(note, 120).split())]
    pids = sorted({*pids, *descendants(process.pid)})
    assert all(alive(pid) for pid in pids)
    process.send_signal(number)
    process.communicate(timeout=30)
    if status is not None:
        assert process.returncode == status
    assert ends(pids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hangs.py", "pid"]
