# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock count SCRIPT: counts the calls of a script's functions, from its first line to its end."""

import argparse

from . import _deepclock, _script, counting


# Sort orders of pstats with another name here.
_PSTATS = {"filename": "file", "nfl": "name", "stdname": "name"}


def _cprofile_checked(p, words, options):
    """Explains a cProfile option: -s is --save here, but --sort in cProfile."""
    ours = _PSTATS.get(options.shown, options.shown)
    if ours in _deepclock._count_sorts() and ("-s", options.shown) in zip(words, words[1:]):
        p.error(f"-s is --save FILE; cProfile's -s {options.shown} is --sort {ours}; for a file of that name: --save {options.shown}")


def main(words):
    p = _script.parser("count", "How often and how long, for each function of a Python script, its threads, and the functions "
                                "in C that it calls; after '--' any program, as 'deepclock count'.")
    own = p.add_argument_group("Counting")
    own.add_argument("--no-builtins", action="store_true", help="functions in C are not separated from their callers")
    own.add_argument("--top", type=int, default=0, metavar="N", help="only the first N functions")
    own.add_argument("--sort", choices=_deepclock._count_sorts(), default="self", metavar="WHAT",
                     help="the order of the functions: self, total, calls, primitive, overhead, name, file, line; also in "
                          "pstats' words (time, cumulative, ncalls, ...); default: self")
    own.add_argument("--times", help=argparse.SUPPRESS)
    script = _script.split(p, words)
    if script is None:
        return _script.command(["count", *words])
    _cprofile_checked(p, words, script.options)
    if script.options.times:
        p.error("--times is for programs after '--': functions of Python are timed by a clock")
    try:
        c = counting.counting(builtins=not script.options.no_builtins, top=script.options.top, title=script.title,
                              sort=script.options.sort)
    except _deepclock.ArgumentError as error:
        p.error(str(error))

    def end():
        record = c.stop(script.interrupted is not None)
        if record is None:
            return None
        well = True
        if (script.options.out or "").endswith(".pstats"):
            well = _script.attempted(c.dump_stats, script.options.out)
            script.options.out, script.options.quiet = None, True
        return _script.show(record, script.options) and well

    _script.at_exit(script, end, _deepclock._count_stop)
    _script.run(script, c.start)
    return 0
