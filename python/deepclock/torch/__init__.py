# SPDX-License-Identifier: Apache-2.0
"""deepclock for PyTorch: modules timed, training steps taken apart."""

from .bench import bench
from .steps import steps
