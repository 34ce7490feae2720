"""Random matmuls, convolutions and attentions, each a module of its own with inputs of its own."""

import random

import torch
import torch.nn.functional as F
from torch import nn

SEED = 20
COUNT = 200


class Contraction(nn.Module):
    """Applies `function` to the inputs; `shapes` are theirs, `text` says what it is."""

    def __init__(self, text, function, shapes):
        super().__init__()
        self.text, self.function, self.shapes = text, function, shapes

    def forward(self, *inputs):
        return self.function(*inputs)


def matmul(pick):
    m, k, n, b = (pick.randint(1, 9) for _ in range(4))
    forms = {
        "mm": (torch.mm, [(m, k), (k, n)]),
        "mv": (torch.mv, [(m, k), (k,)]),
        "bmm": (torch.bmm, [(b, m, k), (b, k, n)]),
        "matmul, broadcast left": (torch.matmul, [(1, 3, m, k), (b, 1, k, n)]),
        "matmul, vector right": (torch.matmul, [(b, m, k), (k,)]),
        "matmul, transposed": (lambda x, y: x.mT @ y, [(b, k, m), (b, k, n)]),
        "linear": (F.linear, [(b, m, k), (n, k), (n,)]),
        "addmm": (torch.addmm, [(n,), (m, k), (k, n)]),
        "baddbmm": (torch.baddbmm, [(b, m, n), (b, m, k), (b, k, n)]),
        "einsum": (lambda x, y: torch.einsum("bik,bkj->bij", x, y), [(b, m, k), (b, k, n)]),
    }
    name = pick.choice(list(forms))
    function, shapes = forms[name]
    return Contraction(f"{name} {shapes}", function, shapes)


def convolution(pick):
    rank, transposed = pick.randint(1, 3), pick.random() < 0.3
    groups = pick.choice([1, 1, 2, 3])
    into, out = groups * pick.randint(1, 4), groups * pick.randint(1, 4)
    window = [pick.randint(1, 3) for _ in range(rank)]
    stride = [pick.randint(1, 2) for _ in range(rank)]
    dilation = [pick.randint(1, 2) for _ in range(rank)]
    padding = [pick.randint(0, 2) for _ in range(rank)]
    size = [pick.randint(6, 9) for _ in range(rank)]
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
        weight = (into, out // groups, *window)
    else:
        function = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
        weight = (out, into // groups, *window)
    shapes = [(pick.randint(1, 3), into, *size), weight]
    if pick.random() < 0.5:
        shapes.append((out,))
    text = f"{function.__name__} {shapes} {options}"
    return Contraction(text, lambda *given: function(*given, **options), shapes)


def attention(pick):
    b, kv_heads, queries, keys = (pick.randint(1, 5) for _ in range(4))
    width, value_width = pick.randint(1, 6), pick.randint(1, 6)
    heads = kv_heads * pick.randint(1, 3)
    options = {"is_causal": pick.random() < 0.4}
    if heads != kv_heads:
        options["enable_gqa"] = True
    shapes = [(b, heads, queries, width), (b, kv_heads, keys, width), (b, kv_heads, keys, value_width)]
    if not options["is_causal"] and pick.random() < 0.4:
        shapes.append((queries, keys))

    def function(q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)

    return Contraction(f"attention {shapes} {options}", function, shapes)


def contractions():
    pick = random.Random(SEED)
    return [pick.choice([matmul, convolution, attention])(pick) for _ in range(COUNT)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(contractions())

    def forward(self, *inputs):
        given = iter(inputs)
        return tuple(part(*(next(given) for _ in part.shapes)) for part in self.parts)


def get_inputs():
    return [torch.randn(shape) for part in contractions() for shape in part.shapes]
