# SPDX-License-Identifier: Apache-2.0
"""How fast an aten call could be on this machine: the record of `deepclock machine` as a roofline.

Williams, Waterman, Patterson: Roofline, Communications of the ACM 52 (2009). The bandwidth is that
of the smallest memory that holds all bytes the call moves.
"""

import deepclock

_TYPES = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "int8": "int8",
          "uint8": "int8"}
_LEVELS = ("l1", "l2", "l3", "dram")
_KINDS = ("read", "copy", "triad")


def limits(asked, threads):
    """(record, "") or (None, why). asked: a record; True: measured where nothing is kept; None: what
    is kept; False: none."""
    if asked is False:
        return None, "roofs=False"
    if asked is not None and asked is not True:
        return asked, ""
    try:
        return deepclock.machine(threads=threads, cached_only=asked is None, quiet=True), ""
    except deepclock.Error as e:
        if asked is None:
            return None, "the machine's limits are not known: roofs=True or `deepclock machine` measures them"
        return None, f"deepclock machine failed: {e}"


def _value(record, tag):
    try:
        return record[tag].value
    except KeyError:
        return None


def _fact(record, key):
    fact = record.facts.get(f"machine/{key}")
    return fact.value if fact is not None else None


class Roof:
    def __init__(self, record, threads):
        where = "1" if threads == 1 else "all"
        self._peak = {t: _value(record, f"peak/{t}/{where}") for t in set(_TYPES.values())}
        self._levels = []
        for level in _LEVELS:
            rates = [v for v in (_value(record, f"bandwidth/{level}_{k}/{where}") for k in _KINDS) if v]
            key = "cache_l1d" if level == "l1" else f"cache_{level}"
            count = 1 if threads == 1 else _fact(record, key + "_count") or 1
            size = float("inf") if level == "dram" else (_fact(record, key) or 0) * count
            if rates:
                self._levels.append((size, max(rates)))

    def of(self, dtype, flops, moved):
        """(FLOP/s that it can reach, least ns, "compute" or "memory"); None: not known."""
        peak = self._peak.get(_TYPES.get(dtype, "fp32"))
        rate = next((rate for size, rate in self._levels if moved <= size), None)
        if not peak or not rate or flops is None or not moved:
            return None
        compute, memory = flops / peak, moved / rate
        return (min(peak, flops / moved * rate), 1e9 * max(compute, memory),
                "compute" if compute >= memory else "memory")
