"""Loads a PyTorch source: finds its form, applies overrides, builds the model and its example inputs.

Forms of files: a file with `Model`, `get_inputs` and (optionally) `get_init_inputs`; `file.py:name`, where `name` is a
function, an `nn.Module` class or instance, or a function without required arguments that returns a module, and the
inputs come from `example_args()` or `get_inputs()`. Beside files: exported programs and models by configuration.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from solar.constants import apply_overrides, defined_names, parse_file
from solar.conversion import replacing_parameters
from solar.huggingface.configurations import PREFIX, uses_transformers
from solar.places import noting_lines
from solar.plain_tensors import check_made, check_model, check_tensors
from solar.problems import Problem, SourceError, display_path, pip_install, raised, text_of
from solar.signature import (
    FunctionModule,
    forward_line,
    forward_signature,
    identifier,
    input_names,
    required_parameters,
)
from solar.source_name import SourceName, parse_source
from solar.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch.export import ExportedProgram

    from solar.huggingface.pretrained import Served

INPUT_MAKERS = ("example_args", "get_inputs")
SPECIAL = (*INPUT_MAKERS, "get_init_inputs")


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """A model and its example inputs, ready to be traced or run.

    `fake_mode` is the mode under which model and inputs were built, None if they are real. `real_model` says that
    the constructor needed real values, so that the parameters are real although the inputs are fake.
    `input_names` has one identifier per leaf of `pytree.tree_leaves((inputs, kwargs))`.
    """

    model: nn.Module
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any]
    name: str
    path: str
    input_names: tuple[str, ...]
    form: str  # "model" | "callable" | "module" | "factory" | "archive"
    fake_mode: FakeTensorMode | None = None
    real_model: bool = False
    tape: Tape | None = None  # what the constructor ran on fake tensors
    warnings: tuple[str, ...] = ()
    exported: ExportedProgram | None = None  # of an archive: nothing is left to export
    exported_mode: str = ""  # of an archive, whose modules no longer have one

    @property
    def mode(self) -> str:
        """`train`, `eval`, or `mixed` where submodules differ; empty for a function, `as exported` where unknown."""
        if self.exported_mode:
            return self.exported_mode
        modes = {module.training for module in self.model.modules() if not isinstance(module, FunctionModule)}
        if not modes:
            return ""
        return "mixed" if len(modes) == 2 else ("train" if modes == {True} else "eval")


def load(source: str, overrides: Mapping[str, int] | None = None, *, fake: bool, seed: int = 0) -> LoadedProgram:
    """Builds the program that `source` names.

    `fake` builds model and inputs under a fake-tensor mode: shapes only, nothing is allocated. A constructor that
    needs values (`.item()`) is run for real. `seed` 0 keeps the example inputs as the file makes them.
    Raises SourceError with one or more problems.
    """
    name = parse_source(source)
    if name.kind == "archive":
        from solar.archives import load_archive

        return load_archive(name, overrides or {}, fake=fake)
    if name.kind == "huggingface":
        from solar.huggingface.source import module_of

        module, served = module_of(name, overrides or {})
        return _Builder(name, module, fake, seed, served).build()
    module, own = run_file(name, overrides or {})
    return _Builder(name, module, fake, seed, own).build()


def run_file(name: SourceName, overrides: Mapping[str, int]) -> tuple[types.ModuleType, Served | None]:
    """Executes the file, with constants overridden, as a module of its own.

    A file that uses transformers gets configurations from this machine, with the overrides `config.NAME`.
    """
    tree = parse_file(name.path)
    served = None
    if uses_transformers(tree):
        own = {key.removeprefix(PREFIX): n for key, n in overrides.items() if key.startswith(PREFIX)}
        overrides = {key: n for key, n in overrides.items() if not key.startswith(PREFIX)}
        served = _served(own)
    tree = apply_overrides(tree, name.path, overrides)
    stem = os.path.splitext(os.path.basename(name.path))[0]
    module = types.ModuleType(f"solar_source_{re.sub(r'[^0-9A-Za-z_]', '_', stem)}")
    module.__file__ = name.path
    sys.modules[module.__name__] = module  # dataclasses and pickling look it up
    folder = os.path.dirname(name.path)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with noting_lines(name.path):
            exec(compile(tree, name.path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and error.name:
            hint = f"install the package that provides `{error.name}` beside torch: {pip_install(error.name)}"
        elif isinstance(error, ImportError) and "relative import" in text_of(error):
            hint = "the file is run by itself, with its folder on the path: write `import x`, not `from . import x`"
        raise SourceError(raised(error, name.path, "running the file", hint=hint)) from error
    return module, served


def _served(overrides: Mapping[str, int]) -> Served | None:
    """Configurations without a hub; None without the library, whose import will fail at the file's own line."""
    from solar.huggingface.pretrained import serve

    try:
        return serve(overrides)
    except ImportError:
        return None


class _Builder:
    """Turns an executed file into a LoadedProgram."""

    def __init__(
        self, name: SourceName, module: types.ModuleType, fake: bool, seed: int, served: Served | None
    ) -> None:
        self.name = name
        self.module = module
        self.seed = seed
        self.served = served
        self.fake_mode = make_fake_mode() if fake else None
        self.tape = Tape() if fake else None

    def build(self) -> LoadedProgram:
        target = self.find_target()
        inputs, kwargs = self.example_inputs()
        model, form, real = self.make_model(target)
        self.check_signature(model, inputs, kwargs)
        names = input_names(model, inputs, kwargs)
        check_tensors(names, pytree.tree_leaves((inputs, kwargs)), self.name.path)
        check_model(model, self.name.path)
        return LoadedProgram(
            model=model,
            inputs=inputs,
            kwargs=kwargs,
            name=identifier(self.name.title),
            path=self.name.path,
            input_names=names,
            form=form,
            fake_mode=self.fake_mode,
            real_model=real,
            tape=None if real else self.tape,
            warnings=self.served.warnings() if self.served else (),
        )

    @property
    def member(self) -> str:
        """The name of what is to be analysed."""
        return "Model" if self.name.kind == "huggingface" else self.name.member or "Model"

    def find_target(self) -> Any:
        """The member that the source names."""
        target = getattr(self.module, self.member, None)
        if target is None:
            what = f"`{self.member}`" if self.name.member else "a class `Model`"
            message = f"the file does not define {what}"
            offer = self.offer() if self.name.member else self.offer_members()
            raise SourceError(Problem("source-form", message, self.name.path, 0, offer))
        return target

    def make_model(self, target: Any) -> tuple[nn.Module, str, bool]:
        """The model, the form of the source, and whether it had to be built for real."""
        path, member = self.name.path, self.member
        if isinstance(target, nn.Module):
            return target, "module", self.fake_mode is not None
        if isinstance(target, type):
            if not issubclass(target, nn.Module):
                message = f"`{member}` is a class, but not a subclass of torch.nn.Module"
                raise SourceError(Problem("source-form", message, path, self.line_of(target)))
            arguments, keywords = self.init_inputs()
            model, real = self.construct(lambda: target(*arguments, **keywords), f"constructing `{member}`")
            return model, "model", real
        if callable(target):
            if not required_parameters(target):
                result, real = self.construct(target, f"calling `{member}()`")
                if isinstance(result, nn.Module):
                    return result, "factory", real
            return FunctionModule(target), "callable", False
        message = f"`{member}` is a {type(target).__name__}, not a function or a torch.nn.Module"
        raise SourceError(Problem("source-form", message, path, 0, self.offer()))

    def construct(self, make: Callable[[], Any], what: str) -> tuple[Any, bool]:
        """Runs a constructor under the fake mode; for real where it needs values."""
        if self.fake_mode is None:
            return self.call(make, what), False
        try:
            noted = self.tape or contextlib.nullcontext()
            with seeded(self.seed), noting_lines(self.name.path), self.fake_mode, replacing_parameters(), noted:
                return make(), False
        except BaseException as error:
            if not needs_values(error):
                raise SourceError(raised(error, self.name.path, what)) from error
        return self.call(make, what, fake=False), True

    def call(self, function: Callable[[], Any], what: str, *, fake: bool = True) -> Any:
        mode = self.fake_mode if fake and self.fake_mode is not None else contextlib.nullcontext()
        try:
            with seeded(self.seed), noting_lines(self.name.path), mode:
                return function()
        except BaseException as error:
            raise SourceError(raised(error, self.name.path, what)) from error

    def init_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The constructor's arguments: a list, or a dict of keywords, or [list, dict]."""
        maker = getattr(self.module, "get_init_inputs", None)
        if maker is None:
            return (), {}
        values = self.call(maker, "`get_init_inputs()`")
        if isinstance(values, dict):
            return (), values
        if isinstance(values, (list, tuple)):
            if len(values) == 2 and isinstance(values[0], (list, tuple)) and isinstance(values[1], dict):
                return tuple(values[0]), dict(values[1])
            return tuple(values), {}
        message = f"`get_init_inputs()` returned a {type(values).__name__}; a list or a dict is expected"
        raise SourceError(Problem("source-form", message, self.name.path, self.line_of(maker)))

    def example_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        order = INPUT_MAKERS if self.name.member else tuple(reversed(INPUT_MAKERS))
        maker_name = next((name for name in order if callable(getattr(self.module, name, None))), None)
        if maker_name is None:
            wanted = " or ".join(f"`{name}()`" for name in order)
            message = f"the file does not define {wanted}, which returns the example inputs"
            raise SourceError(Problem("source-form", message, self.name.path, 0, self.offer()))
        maker = getattr(self.module, maker_name)
        values = self.make_inputs(maker, f"`{maker_name}()`")
        if isinstance(values, torch.Tensor):
            return (values,), {}
        if isinstance(values, dict):
            return (), values
        if isinstance(values, (list, tuple)):
            return tuple(values), {}
        message = f"`{maker_name}()` returned a {type(values).__name__}; a list of tensors is expected"
        raise SourceError(Problem("source-form", message, self.name.path, self.line_of(maker)))

    def make_inputs(self, maker: Callable[[], Any], what: str) -> Any:
        """The example inputs; fake tensors cannot be of every kind, which is then the reason to tell."""
        try:
            return self.call(maker, what)
        except SourceError as error:
            cause = error.__cause__
            unfit = cause is not None and (isinstance(cause, NotImplementedError) or needs_values(cause))
            if self.fake_mode is None or not unfit:
                raise
            try:
                values = self.call(maker, what, fake=False)
            except SourceError:
                raise error from cause
            check_made(values, what, self.name.path, self.line_of(maker))
            raise

    def check_signature(self, model: nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A clear error where the example inputs do not fit forward's parameters."""
        signature = forward_signature(model)
        if signature is None:
            return
        try:
            signature.bind(*inputs, **kwargs)
        except TypeError as error:
            given = len(inputs) + len(kwargs)
            what = "forward" if not isinstance(model, FunctionModule) else self.name.member
            message = f"the {given} example input(s) do not fit `{what}{signature}`: {error}"
            raise SourceError(Problem("source-form", message, self.name.path, forward_line(model))) from error

    def offer(self) -> str:
        names = defined_names(parse_file(self.name.path))
        return f"defined are: {', '.join(names)}" if names else "the file defines nothing"

    def offer_members(self) -> str:
        """What of the file could be named instead of `Model`."""
        own = [
            name
            for name in defined_names(parse_file(self.name.path))
            if not name.startswith("_") and name not in SPECIAL and self.is_usable(getattr(self.module, name, None))
        ]
        if not own:
            return self.offer()
        names = " or ".join(f"{display_path(self.name.path)}:{name}" for name in own[:4])
        missing = not any(callable(getattr(self.module, maker, None)) for maker in INPUT_MAKERS)
        return f"use {names}" + (", with an `example_args()` that returns its inputs" if missing else "")

    def is_usable(self, member: Any) -> bool:
        """Whether a member of the file can be a source."""
        if isinstance(member, type):
            return issubclass(member, nn.Module)
        return isinstance(member, (nn.Module, types.FunctionType))

    def line_of(self, target: Any) -> int:
        try:
            return inspect.getsourcelines(target)[1]
        except (OSError, TypeError):
            return 0


def make_fake_mode() -> FakeTensorMode:
    """A fake-tensor mode that torch.export accepts for model and inputs."""
    return FakeTensorMode(shape_env=ShapeEnv(tracked_fakes=[]), allow_non_fake_inputs=True)


def needs_values(error: BaseException) -> bool:
    """Whether `error` says that fake tensors have no values, rather than that the program is wrong."""
    if type(error).__module__.startswith(("torch._subclasses", "torch.fx", "torch._dynamo")):
        return True
    text = text_of(error).lower()
    return isinstance(error, (RuntimeError, NotImplementedError, TypeError)) and (
        "faketensor" in text or "fake tensor" in text or "meta tensor" in text or "data-dependent" in text
    )


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds the generators; a file that seeds by itself gets other numbers for each non-zero `seed`."""
    import random

    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    original = torch.manual_seed
    original(seed)
    if seed:
        torch.manual_seed = lambda value: original((int(value) + 1_000_003 * seed) % 2**63)  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.manual_seed = original
