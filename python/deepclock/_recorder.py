# SPDX-License-Identifier: Apache-2.0
"""One recorder in the process, where there might be two: imported before the extension is loaded.

NVTX loads the library that `deepclock trace` names for it, which records its ranges; the extension
would record zones by its own copy. Where the library's names are known first, the extension uses
these: what ext/exported.map lists.
"""

import os

_named = os.environ.get("NVTX_INJECTION64_PATH", "")
if os.environ.get("DEEPCLOCK_TRACE") and os.path.basename(_named).startswith("libdeepclock.so"):
    import ctypes

    try:
        ctypes.CDLL(_named, mode=ctypes.RTLD_GLOBAL)
    except OSError:  # then NVTX cannot load it either
        pass
