"""Random matmuls, convolutions and attentions, each a module of its own with inputs of its own."""

import math
import os
import random

import torch
import torch.nn.functional as F
from torch import nn

SEED = int(os.environ.get("SOLAR_SEED", "20"))
COUNT = 201  # of each kind a third
EQUATIONS = (
    *("ik,kj->ij", "ki,kj->ji", "i,ij->j", "ij,jk,kl->il", "abc,cd->dab"),
    *("bik,bkj->bij", "bij,bij->b", "bijl,lk->bijk", "bdhw,dhwo->bo"),
    *("bhid,bhjd->bhij", "bihd,bjhd->bhij", "bqhd,khd->bhqk"),
)


class Contraction(nn.Module):
    """Applies `function` to inputs of `shapes`; `text` says what it is.

    `as_matrices` is the same with each vector as a matrix, for counters that pass over vectors.
    """

    def __init__(self, text, function, shapes, as_matrices=None):
        super().__init__()
        self.text, self.function, self.shapes = f"{text} {shapes}", function, shapes
        self.as_matrices = as_matrices or (function, shapes)

    def forward(self, *inputs):
        return self.function(*inputs)


def matmul(pick):
    m, k, n, b, h = (pick.randint(1, 9) for _ in range(5))
    rows = [pick.randint(1, 5) for _ in range(pick.randint(0, 3))]
    vector, column = (torch.matmul, [(*rows, m, k), (k,)]), (torch.matmul, [(*rows, m, k), (k, 1)])
    forms = {
        "mm": (torch.mm, [(m, k), (k, n)]),
        "bmm": (torch.bmm, [(b, m, k), (b, k, n)]),
        "addmm": (torch.addmm, [(n,), (m, k), (k, n)]),
        "addmm, scaled": (lambda c, x, y: torch.addmm(c, x, y, beta=2, alpha=3), [(m, n), (m, k), (k, n)]),
        "baddbmm": (torch.baddbmm, [(b, m, n), (b, m, k), (b, k, n)]),
        "linear": (F.linear, [(*rows, m, k), (n, k)]),
        "linear with bias": (F.linear, [(*rows, m, k), (n, k), (n,)]),
        "matmul": (torch.matmul, [(*rows, m, k), (*rows, k, n)]),
        "matmul, one matrix": (torch.matmul, [(*rows, m, k), (k, n)]),
        "matmul, broadcast left": (torch.matmul, [(1, h, m, k), (b, 1, k, n)]),
        "matmul, broadcast right": (torch.matmul, [(k, n), (b, h, n, m)]),
        "matmul, transposed": (lambda x, y: x.mT @ y, [(b, k, m), (b, k, n)]),
        "matmul, both transposed": (lambda x, y: (y @ x).mT, [(h, b, k, m), (h, b, n, k)]),
        "matmul, vector right": (*vector, column),
        "matmul, vector left": (torch.matmul, [(k,), (k, n)], (torch.mm, [(1, k), (k, n)])),
        "matmul, two vectors": (torch.matmul, [(k,), (k,)], (torch.mm, [(1, k), (k, 1)])),
        "mv": (torch.mv, [(m, k), (k,)], (torch.mm, [(m, k), (k, 1)])),
        "dot": (torch.dot, [(k,), (k,)], (torch.mm, [(1, k), (k, 1)])),
    }
    if pick.random() < 0.3:
        return einsum(pick)
    name = pick.choice(list(forms))
    return Contraction(name, *forms[name])


def einsum(pick):
    equation = pick.choice(EQUATIONS)
    extent = {letter: pick.randint(2, 6) for letter in "abcdhijklqow"}  # of 1 it is a product for torch, uncounted
    shapes = [tuple(extent[letter] for letter in operand) for operand in equation.split("->")[0].split(",")]
    return Contraction(f"einsum {equation}", lambda *given: torch.einsum(equation, *given), shapes)


def convolution(pick):
    rank, transposed = pick.randint(1, 3), pick.random() < 0.3
    groups = pick.choice([1, 1, 2, 3])
    into, out = groups * pick.choice([1, 1, 2, 3, 4]), groups * pick.randint(1, 4)
    window = [pick.randint(1, 3) for _ in range(rank)]
    stride = [pick.randint(1, 2) for _ in range(rank)]
    dilation = [pick.randint(1, 2) for _ in range(rank)]
    padding = [pick.randint(0, 2) for _ in range(rank)]
    size = [pick.randint(6, 9) for _ in range(rank)]
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
        weight = (into, out // groups, *window)
        options["output_padding"] = [pick.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    else:
        function = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
        weight = (out, into // groups, *window)
        if pick.random() < 0.2:
            options |= {"padding": pick.choice(["same", "valid"]), "stride": 1}
    batch = (pick.randint(1, 3),) if pick.random() < 0.9 else ()
    shapes = [(*batch, into, *size), weight]
    if pick.random() < 0.5:
        shapes.append((out,))
    return Contraction(f"{function.__name__} {options}", lambda *given: function(*given, **options), shapes)


def attention(pick):
    b, kv_heads, queries, keys = (pick.randint(1, 5) for _ in range(4))
    if pick.random() < 0.4:
        keys = queries  # else another sequence's
    width, value_width = pick.randint(1, 6), pick.randint(1, 6)
    form = pick.random()
    if form < 0.15:
        return attention_module(pick, b, kv_heads, queries, keys, width)
    if form < 0.3:
        return attention_by_hand([(b, kv_heads, n, width) for n in (queries, keys, keys)])
    heads = kv_heads * pick.choice([1, 1, 2, 3])
    options = {"is_causal": pick.random() < 0.4}
    if heads != kv_heads:
        options["enable_gqa"] = True
    if pick.random() < 0.2:
        options["scale"] = 0.5
    shapes = [(b, heads, queries, width), (b, kv_heads, keys, width), (b, kv_heads, keys, value_width)]
    if not options["is_causal"] and pick.random() < 0.4:
        shapes.append(pick.choice([(queries, keys), (b, 1, queries, keys), (b, heads, 1, keys)]))

    def function(q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)

    return Contraction(f"scaled_dot_product_attention {options}", function, shapes)


def attention_module(pick, b, heads, queries, keys, width):
    attend = nn.MultiheadAttention(heads * width, heads, batch_first=True)
    weights = pick.random() < 0.5
    shapes = [(b, queries, heads * width), (b, keys, heads * width)]
    part = Contraction(
        f"MultiheadAttention, {heads} heads, weights {weights}",
        lambda q, kv: attend(q, kv, kv, need_weights=weights),
        shapes,
    )
    part.attend = attend  # its parameters are the part's
    return part


def attention_by_hand(shapes):
    def function(q, k, v):
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v

    return Contraction("attention by hand", function, shapes)


def contractions():
    pick = random.Random(SEED)
    return [(matmul, convolution, attention)[i % 3](pick) for i in range(COUNT)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(contractions())

    def forward(self, *inputs):
        given = iter(inputs)
        return tuple(part(*(next(given) for _ in part.shapes)) for part in self.parts)


def get_inputs():
    return [torch.randn(shape) for part in contractions() for shape in part.shapes]
