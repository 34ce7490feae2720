"""`python -m solar.frontends.torch FILE.py`: prints the program's IR. For development."""

from __future__ import annotations

import argparse
import sys

from solar.frontends.torch import trace
from solar.problems import SourceError
from solar.sources import load


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m solar.frontends.torch", description=__doc__)
    parser.add_argument("source", help="FILE.py, FILE.py:NAME, FILE.pt2 or hf:MODEL")
    parser.add_argument(
        "-D", dest="overrides", action="append", default=[], metavar="NAME=N", help="override a constant"
    )
    arguments = parser.parse_args()
    overrides = {name: int(value) for name, _, value in (o.partition("=") for o in arguments.overrides)}
    try:
        result = trace(load(arguments.source, overrides, fake=True))
    except SourceError as error:
        print(error, file=sys.stderr)
        return 1
    print(result.text, end="")
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
