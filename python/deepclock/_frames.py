# SPDX-License-Identifier: Apache-2.0
"""A record as a pandas.DataFrame, and as HTML for notebooks."""

import html as _html
import math

from ._deepclock import AbsentError, time_text

BINS, WIDTH, HEIGHT = 60, 480, 80


def to_pandas(record, table):
    import pandas  # optional: only this call needs it

    if table is None:
        columns = "tag value unit lo hi level how absent narrow".split()
        return pandas.DataFrame([[getattr(m, name) for name in columns] for m in record.metrics.values()],
                                columns=columns).set_index("tag")
    if table == "ops":
        return pandas.DataFrame(record.ops)
    if table in record.tables:
        found = record.tables[table]
        return pandas.DataFrame(list(found), columns=[c.key for c in found.columns])
    if table in record.series:
        found = record.series[table]
        columns = {"value": memoryview(found.values).tolist(),
                   "warmup": [i < found.warmup for i in range(len(found))]}
        if found.at_ns is not None:
            columns["at_ns"] = found.at_ns.tolist()
        return pandas.DataFrame(columns)
    names = ", ".join([*record.tables, *record.series, "ops"])
    raise AbsentError(f"the record has no table or series '{table}'; it has {names}")


def _histogram(series):
    """Returns a histogram of the runs after the warm-up as SVG, without values above the 99th percentile."""
    values = sorted(v for v in series.values[series.warmup:] if math.isfinite(v))
    if len(values) < 10:
        return ""
    low, high = values[0], values[math.ceil(0.99 * len(values)) - 1]
    if not high > low:
        return ""
    counts = [0] * BINS
    for v in values:
        if v <= high:
            counts[min(int((v - low) / (high - low) * BINS), BINS - 1)] += 1
    step, most = WIDTH / BINS, max(counts)
    bars = "".join(f'<rect x="{i * step:.1f}" y="{HEIGHT - n / most * HEIGHT:.1f}" width="{step - 1:.1f}" '
                   f'height="{n / most * HEIGHT:.1f}"/>' for i, n in enumerate(counts) if n)
    left, right = (_html.escape(time_text(v) if series.unit == "ns" else f"{v:,.4g} {series.unit}") for v in (low, high))
    return (f'<svg width="{WIDTH}" height="{HEIGHT + 18}" role="img" aria-label="histogram of the runs">'
            f'<g fill="#4c78a8">{bars}</g><g font-size="11" fill="currentColor">'
            f'<text x="0" y="{HEIGHT + 14}">{left}</text>'
            f'<text x="{WIDTH}" y="{HEIGHT + 14}" text-anchor="end">{right}</text></g></svg>')


def _rows(record):
    for m in record.metrics.values():
        if m.absent is not None:
            continue
        yield m.tag, m.text, m._interval or "", m.help


def html(record, _):
    """Returns HTML: the text report, the histogram of the runs, and, folded, the metrics and notes."""
    rows = "".join(f'<tr title="{_html.escape(about)}"><th style="text-align:left">{_html.escape(tag)}</th>'
                   f'<td>{_html.escape(value)}</td><td>{_html.escape(interval)}</td></tr>'
                   for tag, value, interval, about in _rows(record))
    if rows:
        rows = f"<table><thead><tr><th>metric</th><th>value</th><th>interval</th></tr></thead><tbody>{rows}</tbody></table>"
    notes = "".join(f"<li><b>{_html.escape(n.severity)}</b>: {_html.escape(n.text)}</li>"
                    for n in record.notes if n.cause is None)
    if notes:
        notes = f"<ul>{notes}</ul>"
    folded = f"<details><summary>metrics and notes</summary>{rows}{notes}</details>" if rows or notes else ""
    picture = _histogram(record.series["latency"]) if "latency" in record.series else ""
    title = _html.escape(record.command or "deepclock")
    return f"<div><p><code>{title}</code></p><pre>{_html.escape(str(record))}</pre>{picture}{folded}</div>"
