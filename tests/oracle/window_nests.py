"""Loop nests of convolutions."""

import numpy as np

from oracle.nest import Array, Nest, Recorded, over


def conv1d_unbatched(nest: Nest) -> None:
    (x,) = nest.inputs
    weight, bias = nest.params["conv.weight"], nest.params["conv.bias"]
    stride = padding = 3
    channels_out, channels_in, kernel = weight.shape
    length = (x.shape[1] + 2 * padding - kernel) // stride + 1
    y = np.zeros((channels_out, length))
    for o, p in over(channels_out, length):
        y[o, p] = bias[o]
        for c, r in over(channels_in, kernel):
            place = stride * p + r - padding
            if 0 <= place < x.shape[1]:
                y[o, p] += nest.multiply(x[c, place], weight[o, c, r])
            else:
                nest.skip()
    nest.outputs.append(y)


def convolve(nest: Nest, x: Recorded, weight: Recorded, bias: Recorded) -> Array:
    """A convolution without padding, stride 1."""
    channels_out, channels_in, rows, columns = weight.shape
    y = np.zeros((x.shape[0], channels_out, x.shape[2] - rows + 1, x.shape[3] - columns + 1))
    for n, o, p, q in over(*y.shape):
        y[n, o, p, q] = bias[o] + sum(
            nest.multiply(x[n, c, p + r, q + s], weight[o, c, r, s]) for c, r, s in over(channels_in, rows, columns)
        )
    return y


def conv1d_overlapping(nest: Nest) -> None:
    (x,) = nest.inputs
    weight = nest.params["conv.weight"]
    channels_out, channels_in, kernel = weight.shape
    y = np.zeros((x.shape[0], channels_out, (x.shape[2] - kernel) // 2 + 1))
    for n, o, p in over(*y.shape):
        y[n, o, p] = sum(nest.multiply(x[n, c, 2 * p + r], weight[o, c, r]) for c, r in over(channels_in, kernel))
    nest.outputs.append(y)


def conv_transpose_cropped(nest: Nest) -> None:
    (x,) = nest.inputs
    weight, bias = nest.params["grow.weight"], nest.params["grow.bias"]
    _, channels_out, rows, columns = weight.shape
    y = np.zeros((x.shape[0], channels_out, 2 * x.shape[2], 3 * x.shape[3]))
    for n, o, p, q in over(*y.shape):
        y[n, o, p, q] = bias[o]
    for n, c, i, j, o, r, s in over(*x.shape, channels_out, rows, columns):
        p, q = 2 * i + r - 1, 3 * j + s
        if 0 <= p < y.shape[2] and 0 <= q < y.shape[3]:
            y[n, o, p, q] += nest.multiply(x[n, c, i, j], weight[c, o, r, s])
        else:
            nest.skip()
    nest.outputs.append(y)
