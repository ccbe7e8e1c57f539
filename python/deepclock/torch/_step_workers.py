# SPDX-License-Identifier: Apache-2.0
"""Processor time of the processes in which a DataLoader loads."""

import time

from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter


class Workers:
    """`count` processes; 0: the loader has no worker processes, or is not a DataLoader."""

    def __init__(self):
        self._clocks = []
        self.count = 0
        self.is_loader = False  # batches come from a DataLoader

    def of(self, batches, iterator):
        """The worker processes of this iterator of `batches`, which may be a torch.utils.data.DataLoader."""
        self.is_loader = self.is_loader or isinstance(iterator, _BaseDataLoaderIter) or isinstance(
            batches, DataLoader)  # Accelerate's loaders are, and have a different iterator
        pids = [worker.pid for worker in getattr(iterator, "_workers", ())]
        # The clock of a process, as clock_getcpuclockid(3) makes it: all of its threads.
        self._clocks = [(~pid << 3) | 2 for pid in pids if pid]
        self.count = max(self.count, len(self._clocks))

    def cpu_ns(self):
        """CPU time of all workers since they started; None: no workers, or one has ended."""
        if not self._clocks:
            return None
        try:
            return sum(map(time.clock_gettime_ns, self._clocks))
        except OSError:
            return None
