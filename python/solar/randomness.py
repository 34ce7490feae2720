"""Records the random tensors that a program draws, and gives them back in another run of it.

A draw is one call of a random aten operator. What is recorded is the drawn tensor itself: for dropout the 0/1 mask
that `bernoulli_` fills in, for `randn`, `rand`, `normal_`, ... their result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

# Operators whose result is random. `native_dropout` returns (output, mask) and counts by its mask.
DRAWS = {
    "bernoulli", "bernoulli_", "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm",
    "normal", "normal_", "uniform", "uniform_", "exponential_", "log_normal_", "cauchy_", "geometric_", "random_",
    "multinomial", "poisson", "native_dropout", "rrelu_with_noise", "rrelu_with_noise_",
}  # fmt: skip


class RandomDraws(TorchDispatchMode):
    """Under this mode random operators are recorded in `draws`, or replayed from `replay`."""

    def __init__(self, replay: Sequence[torch.Tensor] | None = None) -> None:
        super().__init__()
        self.draws: list[torch.Tensor] = []
        self._replay = replay

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Runs the operator; a random one is recorded or replaced."""
        kwargs = kwargs or {}
        name = function.__name__.split(".")[0]
        if name.endswith("dropout") and name != "native_dropout":  # arrives whole in inference mode
            with self:
                return function.decompose(*args, **kwargs)
        if name not in DRAWS or (name == "native_dropout" and args[2] is False):
            return function(*args, **kwargs)
        if name.startswith("rrelu"):
            raise NotImplementedError("rrelu in training mode draws random slopes; it cannot be replayed")
        result = function(*args, **kwargs)
        drawn = result[1] if name == "native_dropout" else result
        if self._replay is None:
            self.draws.append(drawn.detach().clone())
            return result
        if len(self.draws) >= len(self._replay):
            raise RuntimeError("the program draws more random tensors than in its first run")
        saved = self._replay[len(self.draws)]
        self.draws.append(saved)
        if name == "native_dropout":
            keep = saved.to(args[0].dtype)
            scale = 1.0 / (1.0 - args[1]) if args[1] < 1 else 0.0
            return args[0] * keep * scale, saved
        drawn.copy_(saved)
        return result
