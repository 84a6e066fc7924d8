"""The kernels of inference: products of a network in a fixed order, which are the same bits on every processor.

A library of linear algebra chooses the order of its sums by the processor and by the number of rows. Here an output is
the bias plus the products of all inputs, first to last, however many rows are computed together.
"""

from plurispiel.abstraction.machine.jit import kernel

_AT_ONCE = 4  # inputs for each pass over a row of outputs
BLOCK = 128
"""Number of inputs whose weights stay in the second-level cache of a processor; a multiple of `_AT_ONCE`, for speed."""


@kernel
def fill_layer(inputs, weights, biases, outputs):
    """Write the outputs of one layer, before its activation.

    Parameters
    ----------
    inputs : float32[n, num_inputs]
    weights : float32[num_inputs, num_outputs]
    biases : float32[num_outputs]
    outputs : float32[n, num_outputs]
        Modified in place.

    Notes
    -----
    Work on four rows at a time takes a third to two thirds of the time of work on one row at a time, since weights are
    read once for four rows. Work on a block of inputs for all rows, before the next block, saves another quarter to
    half: the weights of a block stay in the processor's cache.
    """
    rows, num_inputs = inputs.shape
    for n in range(rows):
        for k in range(weights.shape[1]):
            outputs[n, k] = biases[k]
    fours = rows // 4 * 4
    for first in range(0, num_inputs, BLOCK):
        last = min(first + BLOCK, num_inputs)
        block = weights[first:last]
        for n in range(0, fours, 4):
            _add_to_four(inputs[n : n + 4, first:last], block, outputs[n : n + 4])
        for n in range(fours, rows):
            _add_to_one(inputs[n, first:last], block, outputs[n])


@kernel
def fill_products(rows, matrix, places, outputs):
    """Write the product of rows with many zeros and a matrix: the bits of `fill_layer` without biases.

    Parameters
    ----------
    rows : float32[n, k]
    matrix : float32[k, m]
        Finite.
    places : int64[BLOCK]
        Workspace.
    outputs : float32[n, m]
        Modified in place.

    Notes
    -----
    At an average end of a street, two thirds of the hands have weight 0. Leaving out their products changes no bit: the
    sums start at +0, and a sum of such products is never -0.
    """
    for n in range(outputs.shape[0]):
        for k in range(outputs.shape[1]):
            outputs[n, k] = 0.0
    for first in range(0, rows.shape[1], BLOCK):
        for n in range(rows.shape[0]):
            count = 0
            for i in range(first, min(first + BLOCK, rows.shape[1])):
                if rows[n, i] != 0.0:
                    places[count] = i
                    count += 1
            _add_some(rows[n], places[:count], matrix, outputs[n])


@kernel
def _add_some(row, places, matrix, outputs):
    """Add the products of some numbers of a row and the matrix to `outputs`, float32[m], in place."""
    whole = len(places) // 8 * 8
    for i in range(0, whole, 8):
        p0, p1, p2, p3 = places[i], places[i + 1], places[i + 2], places[i + 3]
        p4, p5, p6, p7 = places[i + 4], places[i + 5], places[i + 6], places[i + 7]
        x0, x1, x2, x3, x4, x5, x6, x7 = row[p0], row[p1], row[p2], row[p3], row[p4], row[p5], row[p6], row[p7]
        w0, w1, w2, w3 = matrix[p0], matrix[p1], matrix[p2], matrix[p3]
        w4, w5, w6, w7 = matrix[p4], matrix[p5], matrix[p6], matrix[p7]
        for k in range(len(outputs)):
            half = (((outputs[k] + x0 * w0[k]) + x1 * w1[k]) + x2 * w2[k]) + x3 * w3[k]
            outputs[k] = (((half + x4 * w4[k]) + x5 * w5[k]) + x6 * w6[k]) + x7 * w7[k]
    for i in range(whole, len(places)):
        x0, w0 = row[places[i]], matrix[places[i]]
        for k in range(len(outputs)):
            outputs[k] += x0 * w0[k]


@kernel
def _add_to_four(inputs, weights, outputs):
    """Add the products of four rows of inputs and the weights to `outputs`, float32[4, num_outputs], in place."""
    num_inputs, num_outputs = weights.shape
    whole = num_inputs // _AT_ONCE * _AT_ONCE
    a, b, c, d = outputs[0], outputs[1], outputs[2], outputs[3]
    for i in range(0, whole, _AT_ONCE):
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        a0, a1, a2, a3 = inputs[0, i], inputs[0, i + 1], inputs[0, i + 2], inputs[0, i + 3]
        b0, b1, b2, b3 = inputs[1, i], inputs[1, i + 1], inputs[1, i + 2], inputs[1, i + 3]
        c0, c1, c2, c3 = inputs[2, i], inputs[2, i + 1], inputs[2, i + 2], inputs[2, i + 3]
        d0, d1, d2, d3 = inputs[3, i], inputs[3, i + 1], inputs[3, i + 2], inputs[3, i + 3]
        for k in range(num_outputs):
            # Read everything before writing: otherwise the compiler cannot use vectors.
            first = (((a[k] + a0 * w0[k]) + a1 * w1[k]) + a2 * w2[k]) + a3 * w3[k]
            second = (((b[k] + b0 * w0[k]) + b1 * w1[k]) + b2 * w2[k]) + b3 * w3[k]
            third = (((c[k] + c0 * w0[k]) + c1 * w1[k]) + c2 * w2[k]) + c3 * w3[k]
            fourth = (((d[k] + d0 * w0[k]) + d1 * w1[k]) + d2 * w2[k]) + d3 * w3[k]
            a[k] = first
            b[k] = second
            c[k] = third
            d[k] = fourth
    for i in range(whole, num_inputs):
        for row in range(4):
            x0 = inputs[row, i]
            for k in range(num_outputs):
                outputs[row, k] += x0 * weights[i, k]


@kernel
def _add_to_one(inputs, weights, outputs):
    """Add the products of one row of inputs and the weights to `outputs`, float32[num_outputs], in place."""
    num_inputs, num_outputs = weights.shape
    whole = num_inputs // _AT_ONCE * _AT_ONCE
    for i in range(0, whole, _AT_ONCE):
        x0, x1, x2, x3 = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for k in range(num_outputs):
            outputs[k] = (((outputs[k] + x0 * w0[k]) + x1 * w1[k]) + x2 * w2[k]) + x3 * w3[k]
    for i in range(whole, num_inputs):
        x0, w0 = inputs[i], weights[i]
        for k in range(num_outputs):
            outputs[k] += x0 * w0[k]


@kernel
def activate(outputs, slope):
    """Multiply negative outputs by a slope (parametric rectifier). `outputs`, float32[n, k], is modified in place."""
    for n in range(outputs.shape[0]):
        for k in range(outputs.shape[1]):
            if outputs[n, k] < 0.0:
                outputs[n, k] *= slope
