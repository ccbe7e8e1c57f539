# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock count SCRIPT: calls of a script's functions, from its first line to its end."""

import atexit

from . import _deepclock, _script, counting


def main(words):
    p = _script.parser("count", "How often and how long, for each function of a Python script, its threads, and the functions "
                                "in C that it calls; behind '--' any program, as 'deepclock count'.")
    own = p.add_argument_group("Counting")
    own.add_argument("--no-builtins", action="store_true", help="functions in C are not told apart from their callers")
    own.add_argument("--top", type=int, default=0, metavar="N", help="only the N functions that take most time of their own")
    script = _script.split(p, words)
    if script is None:
        return _script.command(["count", *words])
    c = counting.counting(builtins=not script.options.no_builtins, top=script.options.top, title=script.title)

    def end():
        record = c.stop(script.interrupted)
        if record is None:
            return
        if (script.options.out or "").endswith(".pstats"):
            c.dump_stats(script.options.out)
            script.options.out, script.options.quiet = None, True
        _script.show(record, script.options)

    _script.at_exit(end)
    atexit.register(_deepclock._count_stop)  # just before: our own end is no call of the script's
    _script.run(script, c.start)
    return 0
