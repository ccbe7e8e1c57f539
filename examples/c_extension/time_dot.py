# SPDX-License-Identifier: Apache-2.0
"""Times a dot product in Python, in the C extension, and with Numba and NumPy if they are installed."""

import array
import importlib.util
import sys

import deepclock

from dot_extension import dot

N = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
a, b = array.array("d", range(N)), array.array("d", [0.5] * N)


def python_dot():
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total


subjects = {"Python": python_dot, "C extension": lambda: dot(a, b)}

if importlib.util.find_spec("numpy"):
    import numpy

    na, nb = numpy.asarray(a), numpy.asarray(b)
    subjects["NumPy"] = lambda: na @ nb

    if importlib.util.find_spec("numba"):
        import numba

        @numba.njit
        def numba_dot(x, y):
            total = 0.0
            for i in range(len(x)):
                total += x[i] * y[i]
            return total

        # The first call compiles. It is a separate lap, so that the ranking has calls of the compiled function.
        with deepclock.lap("Numba compiles"):
            numba_dot(na, nb)
        subjects["Numba"] = lambda: numba_dot(na, nb)

for name, function in subjects.items():
    assert function() == python_dot(), name
print(deepclock.rank(subjects, max_time="1s", no_history=True))
