# SPDX-License-Identifier: Apache-2.0
"""Where the program deepclock is, which measures in fresh processes."""

import functools
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.lru_cache(maxsize=None)
def path():
    """Its path, or None."""
    places = (os.path.join(HERE, "bin", "deepclock"),          # of a wheel
              os.path.join(HERE, "..", "..", "deepclock"))     # of a build folder
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.normpath(place)
    return shutil.which("deepclock")
