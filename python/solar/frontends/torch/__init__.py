"""PyTorch to IR: torch.export's raw graph, lowered operator by operator to prelude functions."""

from solar.frontends.torch.tracer import PortInfo, TraceResult, trace

__all__ = ["PortInfo", "TraceResult", "trace"]
