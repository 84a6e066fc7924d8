"""The kernel of inference: products of a network in a fixed order, which are the same bits on every processor.

A library of linear algebra chooses the order of its sums by the processor and by the number of rows. Here an output is
the bias plus the products of all inputs, first to last, whatever else is computed with it.
"""

from plurispiel.abstraction.machine.jit import kernel

_AT_ONCE = 4  # inputs for each pass over a row of outputs


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
    """
    num_inputs, num_outputs = weights.shape
    whole = num_inputs // _AT_ONCE * _AT_ONCE
    for n in range(inputs.shape[0]):
        row = outputs[n]
        for k in range(num_outputs):
            row[k] = biases[k]
        for i in range(0, whole, _AT_ONCE):
            x0, x1, x2, x3 = inputs[n, i], inputs[n, i + 1], inputs[n, i + 2], inputs[n, i + 3]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for k in range(num_outputs):
                row[k] = (((row[k] + x0 * w0[k]) + x1 * w1[k]) + x2 * w2[k]) + x3 * w3[k]
        for i in range(whole, num_inputs):
            x0, w0 = inputs[n, i], weights[i]
            for k in range(num_outputs):
                row[k] += x0 * w0[k]


@kernel
def activate(outputs, slope):
    """Multiply negative outputs by a slope (parametric rectifier). `outputs`, float32[n, k], is modified in place."""
    for n in range(outputs.shape[0]):
        for k in range(outputs.shape[1]):
            if outputs[n, k] < 0.0:
                outputs[n, k] *= slope
