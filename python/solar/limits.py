"""Limits and isolation of worker processes (Linux)."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from dataclasses import dataclass
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PAGE = os.sysconf("SC_PAGE_SIZE")
MEMORY_HINT = "raise `--memory-limit` (GiB; a worker may take 2 GiB beyond it), or make the program smaller"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may use."""

    wall_seconds: float = 120.0
    memory_bytes: int = 12 << 30
    processes: int = 64
    threads: int = 0  # of torch; 0 is one per processor

    @staticmethod
    def from_json(fields: dict[str, Any]) -> Limits:
        """Limits from the protocol's object; absent fields keep their defaults."""
        known = {name: fields[name] for name in Limits.__slots__ if name in fields}
        return Limits(**known)


def libc() -> ctypes.CDLL:
    """The C library, with errno."""
    return ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Asks for a signal when the parent ends; exits at once if it already has."""
    libc().prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Makes descendants whose parent ended children of this process."""
    libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def leave_network() -> bool:
    """Moves this (single-threaded) process to a network namespace of its own. False where that is not allowed."""
    unshare = getattr(libc(), "unshare", None)
    if unshare is None:
        return False
    if os.geteuid() == 0 and unshare(CLONE_NEWNET) == 0:
        return True
    uid, gid = os.geteuid(), os.getegid()
    if unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        pass  # the identity shows as `nobody`; access to files is unchanged
    return True


def can_leave_network() -> bool:
    """Whether leave_network works here; tried in a child."""
    child = os.fork()
    if child == 0:
        os._exit(0 if leave_network() else 1)
    return os.waitpid(child, 0)[1] == 0


def restrict(limits: Limits) -> None:
    """Resource limits of this process: no core dumps, and an address space generous beyond the memory limit.

    The resident size is watched from outside; the address-space limit only turns a hopeless allocation into an
    error of the program.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * PAGE
    wanted = present + 2 * limits.memory_bytes + (8 << 30)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def address_space() -> int | None:
    """Bytes that this process may have at most, if that is limited."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


_worker = 0  # the process that works on the request; 0 outside of one


def claim_work() -> None:
    """Makes this process the one whose results count."""
    global _worker
    _worker = os.getpid()


def end_copies() -> None:
    """Ends a copy of the worker that the user's code forked and let return; the worker itself goes on."""
    if _worker and os.getpid() != _worker:
        os._exit(0)


def children_of(pid: int) -> list[int]:
    """Child processes of `pid`, over all of its threads."""
    result: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                result += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return result


def tree_of(pid: int) -> list[int]:
    """`pid` and all its descendants."""
    found = [pid]
    for member in found:
        found += [child for child in children_of(member) if child not in found]
    return found


@dataclass(frozen=True, slots=True)
class Use:
    """What a tree of processes uses now."""

    resident_bytes: int
    processes: int


def use_of(pid: int) -> Use:
    """Resident bytes and number of processes of the tree under `pid`."""
    tree = tree_of(pid)
    resident = 0
    for member in tree:
        try:
            with open(f"/proc/{member}/statm") as file:
                resident += int(file.read().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
    return Use(resident, len(tree))


def reap(pid: int) -> float:
    """Waits for an ended child; processor seconds of it and of its own children, 0 if there is none to wait for."""
    try:
        _, _, use = os.wait4(pid, 0)
    except ChildProcessError:
        return 0.0
    return use.ru_utime + use.ru_stime


def kill_tree(pid: int) -> None:
    """Kills the process group of `pid` and every descendant, also those in groups of their own."""
    for member in reversed(tree_of(pid)):
        for kill in (os.kill, os.killpg):
            try:
                if kill is os.kill or os.getpgid(member) == member:
                    kill(member, signal.SIGKILL)
            except OSError:
                continue
