# SPDX-License-Identifier: Apache-2.0
"""Ranges of torch.profiler.record_function on deepclock's timeline, and zones on torch.profiler's."""

import threading

from support import Case, deepclock, main, needs

torch = needs("torch", "PyTorch")

from torch.profiler import ProfilerActivity, profile, record_function  # noqa: E402


def calls(record):
    return {row["name"]: row["calls"] for row in record.tables["zones"]}


def profiled():
    return profile(activities=[ProfilerActivity.CPU])


def events(p):
    return {e.key: e.count for e in p.key_averages() if not e.key.startswith(("aten::", "["))}


class RangesTest(Case):
    def test_record_function_is_on_our_timeline(self):
        before = record_function.__enter__, record_function.__exit__

        @record_function("decorated")
        def work():
            with deepclock.zone("inner"):
                pass

        with deepclock.trace() as t:
            for _ in range(3):
                with record_function("outer"):
                    work()
            with self.assertRaises(ValueError), record_function("raises"):
                raise ValueError
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.assertEqual(calls(t.record), {"outer": 3, "decorated": 4, "inner": 4, "raises": 1})
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)
        self.assertEqual((record_function.__enter__, record_function.__exit__), before)
        with record_function("after"):
            pass

    def test_a_range_that_is_open_at_the_beginning_or_the_end(self):
        with record_function("before"):
            t = deepclock.trace().start()
            with record_function("inside"):
                pass
            last = record_function("last")
            last.__enter__()
            t.stop()
            last.__exit__(None, None, None)
        self.assertEqual(calls(t.record)["inside"], 1)
        self.assertNotIn("before", calls(t.record))

    def test_what_steps_measures_at_its_end_is_not_on_it(self):
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with deepclock.trace() as t, deepclock.torch.steps(module=net, optimizer=optimizer) as s:
            for x in s([torch.ones(1, 2)] * 4):
                optimizer.zero_grad()
                net(x).sum().backward()
                optimizer.step()
        self.assertIn("steps/empty_operator_ns", s.record.facts)
        names = calls(t.record)
        self.assertEqual(names["Optimizer.step#SGD.step"], 4)
        self.assertEqual([name for name in names if "Adam" in name], [])
        with deepclock.trace() as t, record_function("after"):
            pass
        self.assertEqual(calls(t.record), {"after": 1})

    def test_zones_are_in_torch_profiler(self):
        @deepclock.zone("function")
        def work():
            deepclock.push("pushed")
            deepclock.pop()

        with deepclock.torch.ranges(), profiled() as p:
            for _ in range(3):
                with deepclock.zone("outer"):
                    work()
            with record_function("theirs"):
                pass
        found = events(p)
        self.assertEqual({n: found.get(n) for n in ("outer", "function", "pushed", "theirs")},
                         {"outer": 3, "function": 3, "pushed": 3, "theirs": 1})
        with profiled() as p, deepclock.zone("not shown"):
            pass
        self.assertNotIn("not shown", events(p))

    def test_both_at_once(self):
        with deepclock.trace() as t, deepclock.torch.ranges(), profiled() as p:
            with deepclock.zone("ours"), record_function("theirs"):
                pass
        for name in ("ours", "theirs"):
            self.assertEqual((calls(t.record)[name], events(p)[name]), (1, 1))


if __name__ == "__main__":
    main()
