# SPDX-License-Identifier: Apache-2.0
"""Reference counts are balanced: many calls, also failing ones, do not change the number of objects.
Threads and asyncio work together."""

import asyncio
import sys
import threading
import unittest

from support import Case, deepclock, main, short, work


def blocks(what, times):
    """Returns the increase of the interpreter's memory blocks in `times` calls: the minimum of several rounds.
    Free lists (which gc.collect() empties) and other caches are filled by calls before."""
    least = None
    for _ in range(5):
        for _ in range(100):
            what()
        before = sys.getallocatedblocks()
        for _ in range(times):
            what()
        grown = sys.getallocatedblocks() - before
        least = grown if least is None else min(least, grown)
        if least < times:
            break
    return least


class Argument:
    pass


def failing(*args):
    raise ValueError("no")


class ReferencesTest(Case):
    def grows_not(self, what, times=40):
        """A reference leaked by each call would add at least one block per call."""
        self.assertLess(blocks(what, times), times)

    def refused(self, call, *args, **options):
        with self.assertRaises(Exception):
            call(*args, **options)

    def test_measuring(self):
        self.grows_not(lambda: deepclock.bench(work, 10, **short(runs=3)))
        self.grows_not(lambda: self.refused(deepclock.bench, failing, Argument(), **short(runs=3)))
        self.grows_not(lambda: self.refused(deepclock.bench, work, rans=3, runs=Argument()))
        self.grows_not(lambda: self.refused(deepclock.bench, work, shape={"a": object()}))
        self.grows_not(lambda: self.refused(deepclock.compare, {"a": work, "b": Argument()}))
        self.grows_not(lambda: deepclock.bench(work, 10, progress=lambda p: None, **short(runs=3)))

    def test_reading(self):
        r = deepclock.bench(work, **short(runs=100))
        json = r.to_json()
        for look in (lambda: (r.facts, r.metrics, r.series, r.tables, r.trees, r.notes, r.ops),
                     lambda: [(m.value, m.lo, m.how, repr(m), m.absent) for m in r.metrics.values()],
                     lambda: (r.series["latency"].values.tolist(), r.series["latency"].values[3:7]),
                     lambda: (str(r), r.report("json"), r._repr_html_(), repr(r), r.verdict, r.gate),
                     lambda: deepclock.parse(json),
                     lambda: self.refused(r.__getitem__, "nothing"),
                     lambda: self.refused(r.report, "nothing"),
                     lambda: self.refused(deepclock.load, "nothing"),
                     lambda: r.series["latency"].values.__dlpack__(),
                     deepclock.zoo, lambda: deepclock.options("compare")):
            self.grows_not(look)

    def test_rows_and_trees(self):
        r = deepclock.cost("zoo:resnet18")
        for table in r.tables.values():
            first = table.columns[0].key
            self.grows_not(lambda t=table, k=first: (list(t), t[k], t.cell(0, k), t.columns))
        self.grows_not(lambda: r.ops, times=20)

    def test_arguments_are_given_back(self):
        a = Argument()
        before = sys.getrefcount(a)
        deepclock.bench(lambda x: None, a, **short())
        self.refused(deepclock.bench, failing, a, **short())
        self.assertEqual(sys.getrefcount(a), before)


class ThreadsTest(Case):
    def test_measuring_in_several_threads(self):
        wrong, ids = [], []

        def measure():
            try:
                for _ in range(5):
                    r = deepclock.bench(work, 50, **short(runs=30))
                    ids.append(r.id)
                    if r["runs/count"].value != 30:
                        wrong.append(r["runs/count"].value)
                    deepclock.bench_command(["true"], **short(runs=2, warmup=0))
            except Exception as e:  # reported by the main thread
                wrong.append(e)

        threads = [threading.Thread(target=measure) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(set(ids)), 20)

    def test_asyncio(self):
        """An event loop continues while another thread measures a program."""
        async def ticks():
            n = 0
            while True:
                await asyncio.sleep(0.01)
                n += 1
                counted[0] = n

        async def both():
            ticking = asyncio.ensure_future(ticks())
            loop = asyncio.get_running_loop()
            r = await loop.run_in_executor(
                None, lambda: deepclock.bench_command(["sleep", "0.2"], runs=2, warmup=0, no_history=True))
            ticking.cancel()
            return r

        counted = [0]
        r = asyncio.run(both())
        self.assertEqual(r["runs/count"].value, 2)
        self.assertGreater(counted[0], 4)

    def test_one_record_in_several_threads(self):
        r = deepclock.bench(work, **short(runs=200))
        want = (r.to_json(), sorted(r.metrics), str(r))
        seen = []

        def look():
            for _ in range(20):
                seen.append((r.to_json(), sorted(r.metrics), str(r)) == want)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((len(seen), all(seen)), (80, True))

    @unittest.skipUnless(hasattr(sys, "getswitchinterval"), "no such interpreter")
    def test_load_under_quick_switching(self):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        self.addCleanup(sys.setswitchinterval, interval)

        class Counter:
            def __init__(self):
                self.seen = set()

            def call(self, *rest):
                self.seen.add(type(self))

        c = Counter()  # calling a bound method writes before its arguments
        r = deepclock.bench_load(c.call, scenario="multi", streams=4, requests=2000, warmup=10)
        self.assertEqual(r["runs/count"].value, 2000)
        self.assertEqual(c.seen, {Counter})


if __name__ == "__main__":
    main()
