# SPDX-License-Identifier: Apache-2.0
"""deepclock for PyTorch: modules timed and counted, training steps taken apart.

Imported when it is used first, and needs torch (1.13 or newer).
"""

from .bench import bench
from .cost import cost
from .devices import devices
from .load import load
from .modes import modes
from .._torch_ranges import ranges
from .pitfalls import pitfalls
from .profile import profile
from .profiling import profiling, schedule
from .steps import steps
from .throughput import throughput

__all__ = ["bench", "cost", "devices", "load", "modes", "pitfalls", "profile", "profiling", "ranges", "schedule", "steps", "throughput"]
