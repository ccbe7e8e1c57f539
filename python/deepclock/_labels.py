# SPDX-License-Identifier: Apache-2.0
"""Labels and predictions that are not arrays: lists, tuples, table columns."""

import array

import deepclock


def memory_of(values):
    """Returns an object with the buffer protocol (numbers, or a row of scores per item), or a list of str."""
    items = [_plain(value) for value in (values.tolist() if hasattr(values, "tolist") else values)]
    if items and all(isinstance(item, str) for item in items):
        return items
    if items and all(isinstance(item, (list, tuple)) for item in items):
        widths = {len(item) for item in items}
        if len(widths) > 1 or widths == {0}:
            raise deepclock.ArgumentError("rows of scores have one number for each class: these have "
                                          f"{' and '.join(map(str, sorted(widths)[:3]))}")
        flat = array.array("d", [_number(value) for item in items for value in item])
        return memoryview(flat).cast("B").cast("d", (len(items), widths.pop()))
    numbers = [_number(item) for item in items]
    try:
        return array.array("q" if all(isinstance(n, int) for n in numbers) else "d", numbers)
    except OverflowError:
        raise deepclock.ArgumentError("labels are whole numbers from -2**63 to 2**63 - 1") from None


def _plain(value):
    """Converts a scalar of NumPy or PyTorch, also on a device, to Python's type."""
    return value.tolist() if hasattr(value, "tolist") else value


def _number(value):
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise deepclock.ArgumentError("labels are numbers or texts, all of one kind, and scores rows of numbers; one is "
                                      f"{value!r:.60}") from None
