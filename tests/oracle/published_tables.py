"""Speed-of-light numbers of ResNet-18, GPT-2 small and ViT-B/16 from their published layer tables.

A script of its own: it imports nothing of the project and no framework, so that agreement with the analyser means
something. Each model is written down as the list of operators an eager run launches, with the multiply-accumulates and
the distinct bytes of each; the totals and the times on five devices follow from that list.

What is counted:
* `macs` is what a FLOP counter means; `macs_useful` leaves out taps on zero padding, masked pairs and rows that no
  output depends on (only the class token of ViT's last block is classified). Times use `macs_useful`.
* Bytes are distinct elements read and written, 4 bytes each (token ids 8). Views are no operators.
* A convolution in f32 runs on tensor cores at the TF32 rate, every other product at the fp32 rate of the vector units.
  The classes run at the same time.

Usage: python published_tables.py            prints one JSON object, a key per model
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

F32 = 4
I64 = 8


@dataclass(frozen=True)
class Device:
    """Dense datasheet peaks: flop/s of the two unit classes, bytes/s of DRAM."""

    tf32: float
    fp32: float
    bandwidth: float


# Vendors' datasheets, dense rates (the printed sparse ones halved). Thor is the T5000 module: 20 SMs at 1.575 GHz, TF32
# at half of bf16.
DEVICES = {
    "h100-sxm": Device(tf32=494.7e12, fp32=67e12, bandwidth=3350e9),
    "h100-pcie": Device(tf32=378e12, fp32=51.2e12, bandwidth=2039e9),
    "b200": Device(tf32=1125e12, fp32=75e12, bandwidth=8000e9),
    "a6000": Device(tf32=77.4e12, fp32=38.7e12, bandwidth=768e9),
    "thor": Device(tf32=129.4e12, fp32=8.06e12, bandwidth=273e9),
}


@dataclass(frozen=True)
class Operator:
    """One launch: its multiply-accumulates (nominal, useful) and the elements it must read and write."""

    name: str
    reads: int
    writes: int
    macs: int = 0
    macs_useful: int = 0
    convolution: bool = False
    read_bytes_extra: int = 0

    @property
    def traffic(self) -> int:
        return F32 * (self.reads + self.writes) + self.read_bytes_extra


@dataclass
class Model:
    """The operators of a model in order, and the sizes of what comes from outside and goes there."""

    input_bytes: int
    parameters: int
    outputs: int
    operators: list[Operator] = field(default_factory=list)

    def add(self, operators: Iterable[Operator]) -> None:
        self.operators.extend(operators)


def linear(rows: int, width_in: int, width_out: int, bias: bool = True) -> Operator:
    macs = rows * width_in * width_out
    reads = rows * width_in + width_in * width_out + (width_out if bias else 0)
    return Operator("linear", reads, rows * width_out, macs, macs)


def pointwise(name: str, elements: int, operands: int = 1) -> Operator:
    return Operator(name, operands * elements, elements)


def taps_inside(size: int, kernel: int, stride: int, padding: int) -> tuple[int, int, int]:
    """Along one axis: outputs, taps that fall inside the input, distinct positions they touch."""
    outputs = (size + 2 * padding - kernel) // stride + 1
    positions = [stride * p + r - padding for p in range(outputs) for r in range(kernel)]
    inside = [position for position in positions if 0 <= position < size]
    return outputs, len(inside), len(set(inside))


def convolution(
    channels_in: int, channels_out: int, size: int, kernel: int, stride: int, padding: int, bias: bool = False
) -> Operator:
    """A square convolution of one picture. The taps of the two axes are independent, so their counts multiply."""
    outputs, inside, touched = taps_inside(size, kernel, stride, padding)
    channel_pairs = channels_in * channels_out
    weights = channel_pairs * kernel**2 + (channels_out if bias else 0)
    return Operator(
        "convolution",
        reads=channels_in * touched**2 + weights,
        writes=channels_out * outputs**2,
        macs=channel_pairs * outputs**2 * kernel**2,
        macs_useful=channel_pairs * inside**2,
        convolution=True,
    )


def resnet18() -> Model:
    """Table 1 of "Deep Residual Learning for Image Recognition", 224x224, one picture."""
    model = Model(input_bytes=F32 * 3 * 224**2, parameters=0, outputs=1000)

    def conv_norm(channels_in: int, channels_out: int, size: int, kernel: int, stride: int) -> None:
        """A convolution without bias and its batch norm (weight, bias, running mean and variance)."""
        conv = convolution(channels_in, channels_out, size, kernel, stride, padding=kernel // 2)
        model.add([conv, Operator("batch_norm", conv.writes + 4 * channels_out, conv.writes)])
        model.parameters += channels_in * channels_out * kernel**2 + 4 * channels_out

    def relu(channels: int, size: int) -> None:
        model.add([pointwise("relu", channels * size**2)])

    conv_norm(3, 64, 224, kernel=7, stride=2)
    relu(64, 112)
    model.add([Operator("max_pool", 64 * taps_inside(112, 3, 2, 1)[2] ** 2, 64 * 56**2)])
    # Stage: channels, size of its input, stride of its first block.
    channels_in = 64
    for channels, size_in, stride in [(64, 56, 1), (128, 56, 2), (256, 28, 2), (512, 14, 2)]:
        size = size_in // stride
        for block in range(2):
            first = block == 0
            conv_norm(channels_in, channels, size_in if first else size, kernel=3, stride=stride if first else 1)
            relu(channels, size)
            conv_norm(channels, channels, size, kernel=3, stride=1)
            if first and stride != 1:
                conv_norm(channels_in, channels, size_in, kernel=1, stride=stride)
            model.add([pointwise("add", channels * size**2, operands=2)])
            relu(channels, size)
            channels_in = channels
    model.add([Operator("average_pool", 512 * 7**2, 512), linear(1, 512, 1000)])
    model.parameters += 512 * 1000 + 1000
    return model


def attention(heads: int, head_width: int, queries: int, keys: int, causal: bool) -> Operator:
    """Fused attention. Causal: query i sees keys 0..i."""
    pairs = queries * keys
    useful = queries * (queries + 1) // 2 if causal else pairs
    width = heads * head_width
    return Operator(
        "attention",
        reads=(queries + 2 * keys) * width,
        writes=queries * width,
        macs=heads * pairs * 2 * head_width,
        macs_useful=heads * useful * 2 * head_width,
    )


def narrowed(full: Operator, demanded: Operator) -> Operator:
    """An operator that eager PyTorch runs on everything although only part of its result is used."""
    return Operator(full.name, demanded.reads, demanded.writes, full.macs, demanded.macs_useful)


def transformer_block(width: int, heads: int, rows: int, used_rows: int, causal: bool) -> list[Operator]:
    """A pre-norm block whose feed-forward part is four times as wide.

    Only `used_rows` rows of its result are used later: keys and values are still needed for all of them, all else for
    the used ones only.
    """

    def layer_norm(n: int) -> Operator:
        return Operator("layer_norm", n * width + 2 * width, n * width)

    def row_linear(width_in: int, width_out: int) -> Operator:
        return narrowed(linear(rows, width_in, width_out), linear(used_rows, width_in, width_out))

    projection = linear(rows, width, 3 * width)
    unused_queries = (rows - used_rows) * width
    projection = Operator(
        "linear",
        projection.reads,
        projection.writes - unused_queries,
        projection.macs,
        projection.macs_useful - unused_queries * width,
    )
    head_width = width // heads
    return [
        layer_norm(rows),
        projection,
        narrowed(
            attention(heads, head_width, rows, rows, causal),
            attention(heads, head_width, used_rows, rows, causal),
        ),
        row_linear(width, width),
        pointwise("add", used_rows * width, operands=2),
        layer_norm(used_rows),
        row_linear(width, 4 * width),
        pointwise("gelu", used_rows * 4 * width),
        row_linear(4 * width, width),
        pointwise("add", used_rows * width, operands=2),
    ]


def transformer_block_parameters(width: int) -> int:
    norms = 2 * 2 * width
    projections = 3 * width * width + 3 * width + width * width + width
    return norms + projections + 4 * width * width + 4 * width + 4 * width * width + width


def gpt2_small(sequence: int = 1023) -> Model:
    """Twelve blocks, width 768, vocabulary 50257; the output projection is the token table."""
    width, heads, layers, vocabulary = 768, 12, 12, 50257
    hidden = sequence * width
    model = Model(
        input_bytes=I64 * sequence,
        # The table is read whole by the output projection, the positions as far as the sequence goes.
        parameters=vocabulary * width + hidden + layers * transformer_block_parameters(width) + 2 * width,
        outputs=sequence * vocabulary,
    )
    # The ids could all be equal, so one row of the table is all the lookup is sure to read.
    model.add([Operator("embedding", width, hidden, read_bytes_extra=I64 * sequence)])
    model.add([pointwise("add", hidden, operands=2)])
    for _ in range(layers):
        model.add(transformer_block(width, heads, sequence, sequence, causal=True))
    model.add([Operator("layer_norm", hidden + 2 * width, hidden)])
    model.add([linear(sequence, width, vocabulary, bias=False)])
    return model


def vit_b16() -> Model:
    """Twelve blocks, width 768, 16x16 patches of a 224x224 picture, a class token."""
    width, heads, layers, classes = 768, 12, 12, 1000
    patches = (224 // 16) ** 2
    rows = 1 + patches
    patch_parameters = 3 * 16**2 * width + width
    embedding_parameters = width + rows * width
    model = Model(
        input_bytes=F32 * 3 * 224**2,
        parameters=patch_parameters
        + embedding_parameters
        + layers * transformer_block_parameters(width)
        + 2 * width
        + width * classes
        + classes,
        outputs=classes,
    )
    model.add([convolution(3, width, 224, kernel=16, stride=16, padding=0, bias=True)])
    model.add([pointwise("concatenate", rows * width), pointwise("add", rows * width, operands=2)])
    for layer in range(layers):
        used_rows = 1 if layer == layers - 1 else rows
        model.add(transformer_block(width, heads, rows, used_rows, causal=False))
    model.add([Operator("layer_norm", width + 2 * width, width), linear(1, width, classes)])
    return model


def seconds(device: Device, convolution_macs: int, other_macs: int, traffic: int) -> float:
    compute = max(2 * convolution_macs / device.tf32, 2 * other_macs / device.fp32)
    return max(compute, traffic / device.bandwidth)


def describe(model: Model) -> dict[str, Any]:
    """Totals and times of a model, with the field names of the analyser's JSON."""
    convolution_macs = sum(o.macs_useful for o in model.operators if o.convolution)
    macs_useful = sum(o.macs_useful for o in model.operators)
    parameter_bytes, output_bytes = F32 * model.parameters, F32 * model.outputs
    traffic = model.input_bytes + parameter_bytes + output_bytes
    bounds = []
    for name, device in DEVICES.items():
        unfused = sum(
            seconds(device, o.macs_useful * o.convolution, o.macs_useful * (not o.convolution), o.traffic)
            for o in model.operators
        )
        fused = seconds(device, convolution_macs, macs_useful - convolution_macs, traffic)
        bounds.append({"arch": name, "mode": "unfused", "time_s": unfused})
        bounds.append({"arch": name, "mode": "fused", "time_s": fused})
    return {
        "totals": {
            "macs": sum(o.macs for o in model.operators),
            "macs_useful": macs_useful,
            "bytes_read_inputs": model.input_bytes,
            "bytes_read_params": parameter_bytes,
            "bytes_written_outputs": output_bytes,
        },
        "unfused_traffic_bytes": sum(o.traffic for o in model.operators),
        "operators": len(model.operators),
        "bounds": bounds,
    }


def tables() -> dict[str, dict[str, Any]]:
    """The example's file name (without ending) -> its numbers."""
    return {
        "resnet18": describe(resnet18()),
        "gpt2": describe(gpt2_small()),
        "vit_b16": describe(vit_b16()),
    }


if __name__ == "__main__":
    print(json.dumps(tables(), indent=1))
