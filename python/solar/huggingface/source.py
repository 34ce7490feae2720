"""A model of the Hugging Face library as a source: `hf:gpt2`, `hf:folder`, `hf:folder/config.json:ClassName`."""

from __future__ import annotations

import os
import types
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from solar.huggingface.configurations import integer_names, read_configuration
from solar.huggingface.pretrained import EXPERTS, Served, serve
from solar.huggingface.sizes import OWN_SIZES, example_sizes
from solar.problems import Problem, SourceError, display_path, pip_install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from solar.source_name import SourceName

IMAGE, SAMPLES = 224, 16000  # of example inputs, where the configuration does not say


def module_of(name: SourceName, overrides: Mapping[str, int]) -> tuple[types.ModuleType, Served]:
    """What running a file would give: a module with `Model` and `get_inputs`. Raises SourceError."""
    fields = read_configuration(name.path)
    example = example_sizes(fields)
    _check_overrides(name.path, overrides, [*example, *integer_names(fields)])
    example |= {key: overrides[key] for key in OWN_SIZES if key in overrides}
    try:
        served = serve({key: value for key, value in overrides.items() if key not in OWN_SIZES})
        import transformers
    except ImportError as error:
        hint = f"install it beside torch: {pip_install('transformers')}"
        message = f"the package transformers cannot be imported: {error}"
        raise SourceError(Problem("no-framework", message, name.path, 0, hint)) from error
    try:
        config = transformers.AutoConfig.from_pretrained(os.path.dirname(name.path), **_file_option(name.path))
    except Exception as error:
        message = f"{display_path(name.path)} is refused by transformers: {error}"
        raise SourceError(Problem("source-form", message, name.path)) from error
    config.use_cache = False
    kind = _model_class(transformers, name, fields)
    module = types.ModuleType("solar_source_huggingface")
    module.Model = lambda: Tensors(kind._from_config(config, experts_implementation=EXPERTS)).eval()  # type: ignore[attr-defined]
    module.get_inputs = lambda: example_inputs(kind, config, example)  # type: ignore[attr-defined]
    served.models[name.title] = None
    return module, served


def _file_option(path: str) -> dict[str, str]:
    base = os.path.basename(path)
    return {} if base == "config.json" else {"_configuration_file": base}


def _check_overrides(path: str, overrides: Mapping[str, int], known: list[str]) -> None:
    for key in overrides:
        if key not in known:
            message = f"no integer `{key}` to override in the configuration"
            raise SourceError(Problem("usage", message, path, 0, f"it has {', '.join(dict.fromkeys(known))}"))


def _model_class(transformers: Any, name: SourceName, fields: Mapping[str, Any]) -> Any:
    """The class that the source names, or the configuration's first architecture."""
    wanted = name.member or next(iter(fields.get("architectures") or ()), "")
    if not wanted:
        hint = "name one: hf:config.json:LlamaForCausalLM"
        raise SourceError(Problem("source-form", "the configuration names no class of a model", name.path, 0, hint))
    kind = getattr(transformers, wanted, None)
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise SourceError(Problem("source-form", f"transformers has no model `{wanted}`", name.path))
    return kind


class Tensors(nn.Module):
    """A model whose result is the tensors of its output, in their order."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The tensors of the model's output."""
        outputs = self.model(**inputs)
        values = outputs.values() if hasattr(outputs, "values") else outputs
        return tuple(value for value in values if isinstance(value, torch.Tensor))


def example_inputs(kind: Any, config: Any, example: Mapping[str, int]) -> dict[str, torch.Tensor]:
    """Random inputs of what the class' forward takes first: tokens, an image, sound."""
    import inspect

    parameters = inspect.signature(kind.forward).parameters
    makers: dict[str, Callable[[], torch.Tensor]] = {
        "input_ids": lambda: _tokens(config, example),
        "pixel_values": lambda: _image(config, example),
        "input_features": lambda: _spectrum(config, example),
        "input_values": lambda: torch.randn(example["batch_size"], SAMPLES),
    }
    wanted = [key for key in makers if key in parameters]
    inputs = {key: makers[key]() for key in wanted}
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in parameters:
        inputs["decoder_input_ids"] = _tokens(config, example)
    if not inputs:
        message = f"the inputs of `{kind.__name__}` are not known: {', '.join(list(parameters)[1:6])}"
        hint = "write a file with `Model` and `get_inputs`"
        raise SourceError(Problem("source-form", message, "", 0, hint))
    return inputs


def _tokens(config: Any, example: Mapping[str, int]) -> torch.Tensor:
    vocabulary = int(config.get_text_config().vocab_size)
    return torch.randint(0, vocabulary, (example["batch_size"], example["sequence_length"]))


def _image(config: Any, example: Mapping[str, int]) -> torch.Tensor:
    vision = getattr(config, "vision_config", None) or config
    size = getattr(vision, "image_size", None) or IMAGE
    height, width = (size, size) if isinstance(size, int) else size
    return torch.randn(example["batch_size"], getattr(vision, "num_channels", 3), height, width)


def _spectrum(config: Any, example: Mapping[str, int]) -> torch.Tensor:
    bins = getattr(config, "num_mel_bins", 80)
    return torch.randn(example["batch_size"], bins, 2 * getattr(config, "max_source_positions", 1500))
