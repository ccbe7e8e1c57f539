# SPDX-License-Identifier: Apache-2.0
"""Common to all drivers of test cases: default signal actions, and a time limit for each case.

    ordinary_signals()                          once, at the start
    with Limit("bench/processes"):              raises TimeUp after SECONDS, names the case
        ...
"""

import os
import signal

SECONDS = 60  # for one case, however busy the machine
HEAVY_SECONDS = 600  # for a case of the suite 'heavy', which may run a whole reference
SECONDS = int(os.environ.get("CASE_SECONDS", SECONDS))  # a sanitizer makes programs slower: tests/meson.build


class TimeUp(Exception):
    pass


def ordinary_signals():
    """nohup, a shell's background job and some CI runners start programs that ignore SIGHUP, SIGINT or
    SIGQUIT, or block signals. Children inherit that, and a test of a signal would wait for ever."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM,
                   signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def processes():
    """Returns {pid: (parent, session, command line)} of all processes except zombies."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                state, parent, _, session = f.read().rpartition(")")[2].split()[:4]
            with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as f:
                command = f.read().replace("\0", " ").strip()
        except OSError:
            continue
        if state != "Z":
            found[int(name)] = (int(parent), int(session), command)
    return found


def below(pid):
    """Returns {pid: command line} of all descendants of `pid`."""
    running, found = processes(), {}
    while True:
        more = {n: command for n, (parent, _, command) in running.items()
                if n not in found and (parent == pid or parent in found)}
        if not more:
            return found
        found.update(more)


def of_session(pid):
    """Returns {pid: command line} of the session that `pid` leads, and of the descendants of its processes."""
    found = {n: command for n, (_, session, command) in processes().items() if session == pid}
    for member in list(found):
        found.update(below(member))
    return found


def kill(find, pid):
    """Kills the processes that find(pid) returns, and returns them. Stops them first, so that none forks in between."""
    killed = {}
    for number in (signal.SIGSTOP, signal.SIGKILL):
        killed.update(find(pid))
        for process in killed:
            try:
                os.kill(process, number)
            except (ProcessLookupError, PermissionError):
                pass
    return killed


def kill_below(pid):
    return kill(below, pid)


def kill_session(pid):
    return kill(of_session, pid)


def time_up(case, killed, seconds=SECONDS):
    """Returns the message for a case that was killed."""
    return (f"{case}: still running after {seconds} s and killed"
            + "".join(f"\n  running: {command[:200]}" for command in killed.values()))


class Limit:
    """Ends the case on the main thread and kills its child processes."""

    def __init__(self, case, seconds=SECONDS):
        self.case, self.seconds = case, seconds

    def up(self, _number, _frame):
        raise TimeUp(time_up(self.case, kill_below(os.getpid()), self.seconds))

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.up)
        signal.alarm(self.seconds)

    def __exit__(self, *_):
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)
