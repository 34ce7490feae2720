"""The launcher: set-up from nothing, the quick second call, damage and interruptions, missing rights.

A small clone with a program of one file stands for the repository, wheels made here for PyTorch's, and a folder of
links for PATH: nothing is installed on the machine and nothing is downloaded.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT

BASE_PYTHON = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
MAIN = """#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
  std::printf("%s|%s|%s\\n", argc > 1 ? argv[1] : "", std::getenv("SOLAR_ROOT"), std::getenv("SOLAR_PYTHON"));
}
"""
# Copies a fresh environment where one is to be made.
PYTHON3 = """[[ "$1 $2" == "-m venv" ]] || exec "{python}" "$@"
mkdir -p "$3" && cp -a "{template}/." "$3"
""".replace("{python}", str(BASE_PYTHON))
LISTS = """cmake_minimum_required(VERSION 3.25)
project(solar LANGUAGES CXX)
add_executable(solar tools/solar/main.cpp)
"""


def write_wheel(folder: Path, name: str, version: str, extra: str = "") -> None:
    """A package of that name with an empty module."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", extra)
        wheel.writestr(f"{name}/torch.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages that a set-up installs."""
    folder = tmp_path_factory.mktemp("wheels")
    write_wheel(folder, "torch", "2.13.0", "def zeros(n): return n\n")
    write_wheel(folder, "numpy", "2.0.0")
    write_wheel(folder, "safetensors", "0.5.0")
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment; making one takes seconds, copying it does not."""
    folder = tmp_path_factory.mktemp("template") / "venv"
    subprocess.run([BASE_PYTHON, "-m", "venv", folder], check=True)
    return folder


class Clone:
    """A stand-in for a clone, with the commands of PATH under our control."""

    def __init__(self, root: Path, wheels: Path, template: Path) -> None:
        self.root = root
        self.template = template
        self.commands = root.parent / "commands"
        self.commands.mkdir(parents=True)
        for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
            for command in Path(folder).iterdir() if Path(folder).is_dir() else ():
                if (
                    not command.name.startswith(("python", "sudo", "apt"))
                    and not (self.commands / command.name).exists()
                ):
                    (self.commands / command.name).symlink_to(command)
        for tool in ("cmake", "ninja", "g++", "c++"):  # wherever this machine has them
            where = shutil.which(tool)
            if where and not (self.commands / tool).exists():
                (self.commands / tool).symlink_to(where)
        # Not a link: an interpreter that is a link looks for its library beside the link on some builds.
        self.script("python3", PYTHON3.format(template=template))
        for part in ("solar", "scripts", "pyproject.toml", "CMakePresets.json"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, root / part)
        (root / "tools" / "solar").mkdir(parents=True)
        (root / "src").mkdir()
        self.source.write_text(MAIN)
        (root / "CMakeLists.txt").write_text(LISTS)
        self.variables = {
            "HOME": str(root.parent),
            "PATH": str(self.commands),
            "SOLAR_PYTHON": "venv",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_FIND_LINKS": str(wheels),
        }

    @property
    def source(self) -> Path:
        return self.root / "tools" / "solar" / "main.cpp"

    @property
    def binary(self) -> Path:
        return self.root / "build" / "release" / "solar"

    @property
    def venv(self) -> Path:
        return self.root / ".solar" / "venv"

    def script(self, name: str, body: str) -> None:
        """Puts a command into PATH."""
        path = self.commands / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "solar", *arguments],
            env={**self.variables, **variables},
            cwd=self.root.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def start(self, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "solar", "x"],
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def expect(self, *arguments: str, python: Path | None = None, **variables: str) -> str:
        """Runs, demands the program's own output, returns what the set-up said."""
        done = self.run(*arguments, **variables)
        assert done.returncode == 0, done.stderr
        first = arguments[0] if arguments else ""
        assert done.stdout == f"{first}|{self.root}|{python or self.venv / 'bin' / 'python'}\n"
        return done.stderr

    def expect_quiet(self, **variables: str) -> None:
        assert self.expect("again", **variables) == ""


@pytest.fixture
def empty(tmp_path: Path, wheels: Path, template: Path) -> Clone:
    """A clone on which nothing has run."""
    root = tmp_path / "a clone"
    root.mkdir()
    return Clone(root, wheels, template)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path, template: Path) -> Clone:
    """A clone that is set up once; each test leaves it set up."""
    root = tmp_path_factory.mktemp("shared") / "clone"
    root.mkdir()
    clone = Clone(root, wheels, template)
    said = clone.expect("first")
    assert "making the virtual environment" in said
    assert "building" in said
    return clone


@pytest.fixture
def ready(shared: Clone) -> Iterator[Clone]:
    """The shared clone, and a check that the next call has nothing left to do."""
    yield shared
    shared.expect_quiet()


def until(condition: Callable[[], bool]) -> None:
    """Waits for another process to get somewhere."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited for a minute in vain")


def test_first_call_in_an_empty_environment(empty: Clone) -> None:
    empty.script("python3", f'exec "{BASE_PYTHON}" "$@"')
    said = empty.expect("hello")
    assert "installing torch==2.13.0 numpy safetensors into .solar/venv" in said
    assert (empty.root / ".solar" / "python").read_text().strip() == str(empty.venv / "bin" / "python")
    empty.expect_quiet()


def test_second_call_runs_no_tool(ready: Clone) -> None:
    for tool in ("cmake", "ninja", "c++", "g++", "python3"):
        (ready.commands / tool).rename(ready.commands / f"hidden-{tool}")
    try:
        # PATH's python3 is part of what decides; its absence is a change, so keep a name there.
        ready.script("python3", "exit 99")
        ready.expect_quiet()
    finally:
        for tool in ("cmake", "ninja", "c++", "g++", "python3"):
            (ready.commands / f"hidden-{tool}").replace(ready.commands / tool)


def test_set_up_only(ready: Clone) -> None:
    done = ready.run("x", SOLAR_SETUP_ONLY="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_called_through_a_link(ready: Clone, tmp_path: Path) -> None:
    link = tmp_path / "solar"
    link.symlink_to(ready.root / "solar")
    done = subprocess.run([link, "x"], env=ready.variables, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"x|{ready.root}|")


def test_exit_code_and_signals_are_the_programs(ready: Clone) -> None:
    text = ready.source.read_text()
    try:
        ready.source.write_text("int main(int argc, char**) { return argc == 1 ? 3 : 0; }\n")
        assert ready.run().returncode == 3
    finally:
        ready.source.write_text(text)
        ready.expect("x")


def test_a_changed_source_is_built(ready: Clone) -> None:
    ready.source.write_text(MAIN + "// changed\n")
    said = ready.expect("x")
    assert "building" in said
    assert "installing" not in said


def test_a_compile_error_is_shown(ready: Clone) -> None:
    ready.source.write_text("int main() { return nothing_of_that_name; }\n")
    try:
        done = ready.run("x")
        assert done.returncode == 1
        assert done.stdout == ""
        assert "nothing_of_that_name" in done.stderr
        assert "the build failed" in done.stderr
        assert "cmake --build --preset release" in done.stderr
        assert "building from nothing" not in done.stderr
    finally:
        ready.source.write_text(MAIN)
        ready.expect("x")


def cut_binary(clone: Clone) -> None:
    clone.binary.write_bytes(clone.binary.read_bytes()[:100])


def break_cache(clone: Clone) -> None:
    cut_binary(clone)
    (clone.root / "build/release/CMakeCache.txt").write_text("garbage\n")
    (clone.root / "build/release/build.ninja").unlink()


def break_objects(clone: Clone) -> None:
    clone.binary.unlink()
    for path in (clone.root / "build/release").rglob("*.o"):
        path.write_bytes(b"")


DAMAGE: dict[str, Callable[[Clone], None]] = {
    "binary deleted": lambda clone: clone.binary.unlink(),
    "binary cut off": cut_binary,
    "build folder deleted": lambda clone: shutil.rmtree(clone.root / "build"),
    "build folder half there": break_cache,
    "build rules deleted": lambda clone: [clone.binary.unlink(), (clone.root / "build/release/build.ninja").unlink()],
    "build rules cut off": lambda clone: [
        clone.binary.unlink(),
        (clone.root / "build/release/build.ninja").write_text("rule x\n  comm"),
    ],
    "object files empty": break_objects,
    "stamps garbage": lambda clone: [p.write_bytes(b"\0\1\n\n") for p in (clone.root / ".solar/ready").iterdir()],
    "stamps empty": lambda clone: [p.write_text("") for p in (clone.root / ".solar/ready").iterdir()],
    "stamp is a folder": lambda clone: [(p.unlink(), p.mkdir()) for p in (clone.root / ".solar/ready").iterdir()],
    "stamps deleted": lambda clone: shutil.rmtree(clone.root / ".solar/ready"),
    "all state but the environment deleted": lambda clone: [
        p.unlink() for p in (clone.root / ".solar").iterdir() if p.is_file()
    ],
    "lock deleted": lambda clone: (clone.root / ".solar/lock").unlink(missing_ok=True),
    "log folder deleted": lambda clone: [shutil.rmtree(clone.root / ".solar/log"), clone.binary.unlink()],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_repaired(ready: Clone, damage: Callable[[Clone], object]) -> None:
    damage(ready)
    said = ready.expect("x")
    assert "installing" not in said


def site(clone: Clone) -> Path:
    (folder,) = (clone.venv / "lib").glob("python3*/site-packages")
    return folder


ENVIRONMENT_DAMAGE: dict[str, Callable[[Clone], object]] = {
    "environment deleted": lambda clone: shutil.rmtree(clone.venv),
    "interpreter deleted": lambda clone: (clone.venv / "bin" / "python").unlink(),
    "interpreter dangling": lambda clone: [
        (clone.venv / "bin" / "python").unlink(),
        (clone.venv / "bin" / "python").symlink_to("/nowhere/python"),
    ],
    "interpreter is text": lambda clone: [
        (clone.venv / "bin" / "python").unlink(),
        (clone.venv / "bin" / "python").write_text("x"),
    ],
    "package deleted": lambda clone: shutil.rmtree(site(clone) / "safetensors"),
    "package cut off": lambda clone: (site(clone) / "torch" / "__init__.py").write_text("def zeros("),
    "metadata deleted": lambda clone: shutil.rmtree(site(clone) / "torch-2.13.0.dist-info"),
    "killed while installing": lambda clone: [
        (clone.root / ".solar" / "venv.unfinished").touch(),
        shutil.rmtree(site(clone) / "pip"),
        shutil.rmtree(clone.root / ".solar" / "ready"),
    ],
}


@pytest.mark.parametrize("damage", ENVIRONMENT_DAMAGE.values(), ids=ENVIRONMENT_DAMAGE)
def test_a_damaged_environment_is_made_anew(ready: Clone, damage: Callable[[Clone], object]) -> None:
    damage(ready)
    assert "installing torch==2.13.0" in ready.expect("x")


# Where a set-up is stopped: a command that says so and then waits.
STOPS = {
    "environment": ("python3", f'[[ "$1 $2" == "-m venv" ]] || exec "{BASE_PYTHON}" "$@"\nmkdir -p "$3/bin"'),
    "configure": ("cmake", '[[ "$1" == --preset ]] || exec "$REAL" "$@"\nmkdir -p "$CLONE/build/release/CMakeFiles"'),
    "build": ("cmake", '[[ "$1" == --build ]] || exec "$REAL" "$@"'),
}


def with_stop(clone: Clone, where: str) -> tuple[Path, Path, bytes | None, str]:
    command, body = STOPS[where]
    path = clone.commands / command
    kept = path.read_bytes() if not path.is_symlink() else None
    real = str(path.resolve())
    reached = clone.root.parent / "reached"
    reached.unlink(missing_ok=True)
    clone.script(
        command,
        f'REAL="{real}"\nCLONE="{clone.root}"\n{body}\n'
        f'sleep 600 &\necho $! >"{reached}.new"\nmv "{reached}.new" "{reached}"\nwait',
    )
    return path, reached, kept, real


def without_stop(path: Path, kept: bytes | None, real: str) -> None:
    path.unlink()
    if kept is None:
        path.symlink_to(real)
    else:
        path.write_bytes(kept)
        path.chmod(0o755)


def ended(process: int) -> bool:
    """Whether the process does nothing any more; a zombie may stay where nobody collects orphans."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("where", "sent"),
    [*((where, signal.SIGKILL) for where in STOPS), ("environment", signal.SIGTERM), ("build", signal.SIGINT)],
)
def test_interrupted_and_called_again(empty: Clone, where: str, sent: signal.Signals) -> None:
    path, reached, kept, real = with_stop(empty, where)
    process = empty.start()
    until(reached.exists)
    process.send_signal(sent)
    process.communicate(timeout=600)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[sent]
    until(lambda: ended(int(reached.read_text())))
    without_stop(path, kept, real)
    empty.expect("x")
    empty.expect_quiet()


def test_nothing_is_left_when_the_whole_pipeline_is_stopped(empty: Clone) -> None:
    _, reached, _, _ = with_stop(empty, "build")
    process = empty.start()
    until(reached.exists)
    assert process.stderr is not None
    process.stderr.close()  # its reader died first: saying something raises SIGPIPE
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=600)
    until(lambda: ended(int(reached.read_text())))


def test_killed_in_the_middle_of_pip(empty: Clone, tmp_path: Path, wheels: Path) -> None:
    # A source package whose build waits, in place of the wheel.
    folder = tmp_path / "links"
    shutil.copytree(wheels, folder, ignore=lambda _, names: [n for n in names if n.startswith("safetensors")])
    package = tmp_path / "safetensors-0.5.0"
    package.mkdir()
    reached = tmp_path / "reached"
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (package / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: safetensors\nVersion: 0.5.0\n")
    (package / "backend.py").write_text(
        f"import pathlib, time\ndef build_wheel(*a, **k):\n    pathlib.Path({str(reached)!r}).touch(); time.sleep(15)\n"
    )
    shutil.make_archive(str(folder / "safetensors-0.5.0"), "gztar", tmp_path, package.name)
    process = empty.start(PIP_FIND_LINKS=str(folder))
    until(reached.exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    assert "incomplete or damaged: making it anew" in empty.expect("x")
    empty.expect_quiet()


def test_calls_at_the_same_time(empty: Clone) -> None:
    processes = [empty.start() for _ in range(4)]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert {output for output, _ in outputs} == {f"x|{empty.root}|{empty.venv / 'bin' / 'python'}\n"}
    said = "".join(errors for _, errors in outputs)
    assert said.count("making the virtual environment .solar/venv ...") == 1
    assert said.count("building (release) ...") == 1


def test_no_packages_to_be_had(empty: Clone) -> None:
    empty.variables["PIP_FIND_LINKS"] = str(empty.root)
    done = empty.run("x")
    assert done.returncode == 1
    assert "PyTorch could not be installed" in done.stderr
    assert "-m pip install torch==2.13.0 numpy safetensors" in done.stderr
    assert "No matching distribution" in done.stderr  # the end of the log
    assert not empty.binary.exists()


def test_the_callers_own_environment_is_used(ready: Clone, tmp_path: Path, wheels: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(ready.template, mine, symlinks=True)
    pip = [mine / "bin" / "python", "-m", "pip", "-q", "--disable-pip-version-check", "install"]
    install = {**ready.variables, "PATH": os.environ["PATH"]}
    subprocess.run([*pip, "torch", "numpy"], env=install, check=True)

    # Activated, but a package is missing: said, and ours is used.
    shutil.rmtree(ready.root / ".solar" / "venv")
    activated = {"SOLAR_PYTHON": "", "VIRTUAL_ENV": str(mine), "PATH": f"{mine}/bin:{ready.commands}"}
    said = ready.expect("x", **activated)
    assert "has torch 2.13.0 but no safetensors: setting up .solar/venv instead" in said
    ready.expect_quiet(**activated)

    # Asked for by name: an error that says what to install.
    done = ready.run("x", SOLAR_PYTHON=str(mine / "bin" / "python"))
    assert done.returncode == 1
    assert "has torch 2.13.0 but no safetensors" in done.stderr
    assert f"{mine}/bin/python -m pip install torch==2.13.0 numpy safetensors" in done.stderr

    # Complete: used, in both ways.
    subprocess.run([*pip, "safetensors"], env=install, check=True)
    chosen = mine / "bin" / "python"
    assert "installing" not in ready.expect("x", python=chosen, SOLAR_PYTHON=str(chosen))
    (ready.root / ".solar" / "ready").rename(tmp_path / "old")
    assert "installing" not in ready.expect("x", python=chosen, **activated)
    assert ready.expect("x", python=chosen, **activated) == ""

    # Its PyTorch is removed: noticed.
    shutil.rmtree(next((mine / "lib").glob("python3*/site-packages/torch")))
    shutil.rmtree(next((mine / "lib").glob("python3*/site-packages/torch-2.13.0.dist-info")))
    ready.expect("x", **activated)
    ready.expect("x")


def test_an_interpreter_that_does_not_exist(ready: Clone) -> None:
    done = ready.run("x", SOLAR_PYTHON="/nowhere/python")
    assert done.returncode == 1
    assert "SOLAR_PYTHON is `/nowhere/python`: no such program" in done.stderr


def test_an_older_torch_is_not_suitable(empty: Clone, tmp_path: Path) -> None:
    folder = tmp_path / "old-wheels"
    folder.mkdir()
    write_wheel(folder, "torch", "2.9.1")
    mine = tmp_path / "mine"
    shutil.copytree(empty.template, mine, symlinks=True)
    subprocess.run(
        [mine / "bin" / "python", "-m", "pip", "-q", "install", "torch"],
        env={**empty.variables, "PIP_FIND_LINKS": str(folder), "PATH": os.environ["PATH"]},
        check=True,
    )
    done = empty.run("x", SOLAR_PYTHON=str(mine / "bin" / "python"))
    assert done.returncode == 1
    assert "has torch 2.9.1: 2.13 or 2.14 is needed" in done.stderr


def remove_ninja(clone: Clone) -> Path:
    path = clone.commands / "ninja"
    real = path.resolve()
    path.unlink()
    return real


def test_no_right_to_install(empty: Clone) -> None:
    remove_ninja(empty)
    empty.script("id", "echo 1000")
    empty.script("apt-get", 'touch "$HOME/apt-get-was-run"; exit 1')
    for sudo in (None, "exit 1"):
        if sudo:
            empty.script("sudo", sudo)
        done = empty.run("x")
        assert done.returncode == 1
        assert "missing, and installing them needs rights you do not have: ninja-build" in done.stderr
        assert "sudo apt-get update && sudo apt-get install ninja-build" in done.stderr
        assert not (empty.root.parent / "apt-get-was-run").exists()
        assert not empty.venv.exists()


def test_no_package_manager(empty: Clone) -> None:
    remove_ninja(empty)
    done = empty.run("x")
    assert done.returncode == 1
    assert "there is no apt-get to install them: ninja-build" in done.stderr


def test_packages_are_installed_after_refreshing_the_lists(empty: Clone) -> None:
    real = remove_ninja(empty)
    empty.script("id", "echo 1000")
    empty.script("sudo", '[[ $1 == -n ]] || exit 1; shift; exec "$@"')
    empty.script(
        "apt-get",
        f'echo "$1" >>"$HOME/apt-calls"\n[[ $1 == update ]] && touch "$HOME/lists" && exit 0\n'
        f'[[ -e $HOME/lists ]] || {{ echo "E: Unable to locate package"; exit 100; }}\n'
        f'[[ "$*" == *" ninja-build" ]] && ln -s "{real}" "{empty.commands}/ninja"',
    )
    said = empty.expect("x")
    assert "installing Debian packages: ninja-build" in said
    assert (empty.root.parent / "apt-calls").read_text().split() == ["install", "update", "install"]


def test_packages_that_cannot_be_installed(empty: Clone) -> None:
    remove_ninja(empty)
    empty.script("id", "echo 0")
    empty.script("apt-get", 'echo "E: no room left"; exit 100')
    done = empty.run("x")
    assert done.returncode == 1
    assert "| E: no room left" in done.stderr
    assert "sudo apt-get install ninja-build" in done.stderr


def test_a_missing_header_is_named(empty: Clone) -> None:
    # A compiler that sees no system headers stands for a machine without the libraries.
    real = (empty.commands / "c++").resolve()
    for name in ("c++", "g++"):
        empty.script(
            name, f'[[ "$*" == *" -E "* ]] && exec "{real}" -nostdinc -I/nowhere -I"$HOME" "$@"\nexec "{real}" "$@"'
        )
    done = empty.run("x")
    assert done.returncode == 1
    for package in (
        "libfmt-dev",
        "libcli11-dev",
        "nlohmann-json3-dev",
        "libtomlplusplus-dev",
        "libzip-dev",
        "libmimalloc-dev",
    ):
        assert package in done.stderr
    assert "libgtest-dev" not in done.stderr


def test_a_folder_that_cannot_be_written(empty: Clone) -> None:
    (empty.root / ".solar").write_text("in the way")
    done = empty.run("x")
    assert done.returncode == 1
    assert "cannot write to" in done.stderr
