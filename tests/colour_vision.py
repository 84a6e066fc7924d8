"""How colours look to each kind of colour vision, and how far apart two of them are.

References
----------
G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A physiologically-based model for simulation of color vision
deficiency. IEEE Transactions on Visualization and Computer Graphics 15 (2009), table 1, severity 1.0.
G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 color-difference formula. Color Research and Application 30 (2005).
"""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import numpy as np

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _TO_XYZ.sum(axis=1)


def linear(colour):
    """Return the linear light of ``#rrggbb``: float64[3]."""
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(colour, vision="normal"):
    """Return a colour's CIELAB coordinates as one kind of vision sees it."""
    ratios = _TO_XYZ @ (VISIONS[vision] @ linear(colour)).clip(0.0, 1.0) / _WHITE
    roots = np.where(ratios > (6 / 29) ** 3, np.cbrt(ratios), ratios / (3 * (6 / 29) ** 2) + 4 / 29)
    return 116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])


def difference(first, second, vision="normal"):
    """Return the CIEDE2000 difference of two colours as one kind of vision sees them; 1 is just noticed."""
    return ciede2000(lab(first, vision), lab(second, vision))


def ciede2000(first, second):
    """Return the difference of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    mean7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * sqrt(mean7 / (mean7 + 25.0**7))
    c1, c2 = hypot(a1 * stretch, b1), hypot(a2 * stretch, b2)
    h1, h2 = (degrees(atan2(b, a * stretch)) % 360 if (a, b) != (0, 0) else 0.0 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    sl = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    sc, sh = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    rotation = 60 * exp(-(((mean_h - 275) / 25) ** 2))
    rc = 2 * sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return sqrt(dl**2 + dc**2 + dh**2 - sin(radians(rotation)) * rc * dc * dh)
