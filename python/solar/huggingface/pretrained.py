"""`from_pretrained` without a hub: configurations from this machine, weights at random.

A trace needs shapes only, and a comparison of values holds for any weights.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from solar.huggingface.configurations import bundled_folder, unknown_model, with_overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPERTS = "batched_mm"


class UnknownModelError(OSError):
    """A model whose configuration is not on this machine."""


class Served:
    """What was served, for a warning; and the overrides of configurations that were used."""

    def __init__(self, overrides: Mapping[str, int]) -> None:
        self.overrides = dict(overrides)
        self.used: set[str] = set()
        self.configurations: dict[str, None] = {}
        self.models: dict[str, None] = {}

    def warnings(self) -> tuple[str, ...]:
        """What the user should know."""
        notes = [f"the configuration of `{name}` is the one bundled with solar" for name in self.configurations]
        return (*notes, *(f"the weights of `{name}` are random" for name in self.models))

    def folder(self, name: Any) -> Any:
        """The folder with the configuration of a model's name."""
        text = os.fspath(name)
        if os.path.exists(text):
            return name
        folder = bundled_folder(text)
        if folder is None:
            return name
        self.configurations[text] = None
        return folder


def serve(overrides: Mapping[str, int]) -> Served:
    """Makes `from_pretrained` of this process work without a hub, for good.

    `overrides` replace integers of every configuration that has them. Raises ImportError without transformers.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import PreTrainedModel
    from transformers.models.auto.auto_factory import _BaseAutoModelClass
    from transformers.models.auto.configuration_auto import AutoConfig

    served = Served(overrides)
    _serve_configurations(served)
    auto_configuration = AutoConfig.from_pretrained.__func__

    def configuration(cls: Any, /, name: Any, **options: Any) -> Any:
        return auto_configuration(cls, served.folder(name), **options)

    def of_any_kind(cls: Any, /, name: Any, *arguments: Any, config: Any = None, **options: Any) -> Any:
        config = AutoConfig.from_pretrained(name) if config is None else config
        return _initialised(served, name, lambda: cls.from_config(config, **_kept(options)))

    def of_a_class(cls: Any, /, name: Any, *arguments: Any, config: Any = None, **options: Any) -> Any:
        config = cls.config_class.from_pretrained(name) if config is None else config
        return _initialised(served, name, lambda: cls._from_config(config, **_kept(options)))

    AutoConfig.from_pretrained = classmethod(configuration)
    _BaseAutoModelClass.from_pretrained = classmethod(of_any_kind)
    PreTrainedModel.from_pretrained = classmethod(of_a_class)
    return served


def _serve_configurations(served: Served) -> None:
    from transformers import PreTrainedConfig

    original = PreTrainedConfig.get_config_dict.__func__

    def fields_of(cls: Any, /, name: Any, **options: Any) -> Any:
        try:
            fields, unused = original(cls, served.folder(name), **options)
        except OSError as error:
            if os.path.exists(os.fspath(name)):
                raise
            message, hint = unknown_model(os.fspath(name))
            raise UnknownModelError(f"{message}; {hint}") from error
        fields, found = with_overrides(fields, served.overrides)
        served.used |= found
        return fields, unused

    PreTrainedConfig.get_config_dict = classmethod(fields_of)


def _initialised(served: Served, name: Any, make: Any) -> Any:
    """A model with random weights, in evaluation mode as `from_pretrained` gives it.

    Experts are chosen by gathering their weights: other ways have sizes that depend on data.
    """
    served.models[os.fspath(name)] = None
    return make().eval()


def _kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that do not concern the hub or where the weights lie."""
    kept = {key: options[key] for key in ("dtype", "torch_dtype", "attn_implementation") if options.get(key)}
    return kept | {"experts_implementation": options.get("experts_implementation", EXPERTS)}
