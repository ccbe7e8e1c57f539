# SPDX-License-Identifier: Apache-2.0
"""Training steps by part: real networks, optimisers, loaders and worker processes."""

import itertools
import time
import unittest
import warnings

from support import Case, deepclock, main, needs

torch = needs("torch", "PyTorch")

from deepclock.torch import _step_bound, steps as steps_class  # noqa: E402
from deepclock.torch import _device  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

COMPUTING = ("forward", "loss", "backward", "optimiser")


class Numbers(Dataset):
    """Items that take time: on the processor, or asleep."""

    def __init__(self, n, busy=0.0, asleep=0.0):
        self.n, self.busy, self.asleep = n, busy, asleep

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        end = time.process_time() + self.busy
        while time.process_time() < end:
            pass
        time.sleep(self.asleep)
        return torch.full((8,), float(i % 7)), i % 3


class Net:
    def __init__(self):
        torch.manual_seed(3)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        self.optimiser = torch.optim.Adam(self.net.parameters())
        self.criterion = torch.nn.CrossEntropyLoss()

    def train(self, batches):
        for x, y in batches:
            loss = self.criterion(self.net(x), y)
            loss.backward()
            self.optimiser.step()
            self.optimiser.zero_grad()


def column(record, key):
    """Returns a column of the table: {part: value}"""
    table = record.tables["steps"]
    return dict(zip(table["part"], table[key]))


class SumTest(Case):
    @unittest.skipUnless(torch.distributed.is_available(), "this PyTorch is without torch.distributed")
    def test_rank(self):
        def facts():
            with deepclock.torch.steps(operators=False, live=False) as s:
                for _ in s(range(4)):
                    pass
            return {key: s.record.facts[key].value for key in ("engine/rank", "engine/world_size") if key in s.record.facts}

        self.assertEqual(facts(), {})
        torch.distributed.init_process_group("gloo", init_method="file://" + self.path("store"), rank=0, world_size=1)
        try:
            self.assertEqual(facts(), {"engine/rank": 0, "engine/world_size": 1})
        finally:
            torch.distributed.destroy_process_group()

    def test_parts_add_up_to_the_nanosecond(self):
        n = Net()
        began = time.perf_counter_ns()
        with deepclock.torch.steps(total=12) as s:
            for x, y in s(DataLoader(Numbers(12 * 4), batch_size=4)):
                with s.to_device:
                    x = x * 1.0
                with s.forward:
                    scores = n.net(x)
                    with s.loss:  # inside another part: counted once
                        loss = n.criterion(scores, y)
                with s.backward:
                    loss.backward()
                with s.optimizer:
                    n.optimiser.step()
                n.optimiser.zero_grad()
        outer = time.perf_counter_ns() - began
        self.assertEqual(len(s.steps), 12)
        for step, after in zip(s.steps, s.steps[1:]):
            self.assertEqual(step.at_ns + step.wall_ns, after.at_ns)
        self.assertTrue(all(sum(step.parts_ns) == step.wall_ns > 0 for step in s.steps))
        self.assertLessEqual(sum(step.wall_ns for step in s.steps) + s.outside_ns, outer)
        total = column(s.record, "total")
        self.assertEqual(total.pop("step"), sum(total.values()))
        share = column(s.record, "share")
        self.assertAlmostEqual(sum(share.values()), 2.0)
        self.assertTrue(all(total[p] > 0 for p in (*COMPUTING, "data", "to_device", "other")))
        self.assertEqual(s.record["steps/count"].value, 12)
        self.assertEqual(s.record["steps/first"].value, s.steps[0].wall_ns)
        self.assertEqual(s.record.series["steps/wall"].warmup, 2)
        self.assertGreater(s.record["throughput/items"].value, 0)
        self.assertGreater(s.record.facts["steps/operators"].value, 10)
        self.assertEqual(deepclock.parse(s.record.to_json()).to_json(), s.record.to_json())

    def test_planted_times(self):
        """Planted sleeps are charged to the part that slept, also if it is inside another part."""
        with deepclock.torch.steps(operators=False) as s:
            for _ in s(map(time.sleep, [0.2] * 5)):
                with s.forward:
                    time.sleep(0.008)
                    with s.loss:
                        time.sleep(0.004)
                with s.backward:
                    time.sleep(0.006)
                time.sleep(0.005)
        for step in s.steps:
            at_least = [200, 0, 8, 4, 6, 0, 5, 0]
            for took, ms in zip(step.parts_ns, at_least):
                self.assertGreaterEqual(took, ms * 1_000_000)
        least = {name: min(step.parts_ns[i] for step in s.steps)
                 for i, name in enumerate(column(s.record, "total")) if name != "step"}
        self.assertEqual(sorted(least, key=least.get)[-5:], ["loss", "other", "backward", "forward", "data"])
        self.assertEqual(s.record.facts["steps/bound"].value, "data loading")
        self.assertIn("a torch.utils.data.DataLoader", " ".join(n.text for n in s.record.notes))


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.02)
        return gradient


class OneThread(Case):
    """One thread, because pool threads without a free core would slow down operators of microseconds."""

    def setUp(self):
        super().setUp()
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)


class WaitingTest(OneThread):
    def test_waiting_is_a_bound_of_its_own(self):
        n = Net()
        with deepclock.torch.steps(total=6) as s:
            for x, y in s([(torch.zeros(4, 8), torch.zeros(4, dtype=torch.long))] * 6):
                with s.forward:
                    time.sleep(0.1)
                with s.backward:
                    n.criterion(n.net(x), y).backward()
        if not s.record.facts["steps/looked_at_for_waiting"].value:
            self.skipTest("the kernel shows no run delay of threads")
        waits = column(s.record, "waits")
        self.assertGreater(waits["forward"], 0.5)
        self.assertEqual(s.record.facts["steps/bound"].value, "waiting")
        self.assertIn("most of it in forward", s.record.facts["result/answer"].value)

    def test_computing_does_not_wait(self):
        with deepclock.torch.steps(operators=False) as s:
            for _ in s(range(5)):
                with s.forward:
                    end = time.thread_time() + 0.03
                    while time.thread_time() < end:
                        pass
        self.assertNotEqual(s.record.facts["steps/bound"].value, "waiting")

    def test_on_a_device_it_is_absent(self):
        e = _step_bound.Evidence(1.0, {p: 0.25 for p in ("data", "to_device", "other", *COMPUTING)})
        self.assertEqual(_step_bound.bound_of(e).by, "compute")
        e.waits = {"backward": 0.5, "other": 1.0}
        self.assertAlmostEqual(_step_bound.bound_of(e).share, 1.0 - 0.125)
        e.waits = dict.fromkeys(COMPUTING, 0.9)
        self.assertEqual(_step_bound.bound_of(e).by, "waiting")


class OtherWorkTest(OneThread):
    def test_backward_of_other_networks(self):
        g, d = Net(), Net()
        with deepclock.torch.steps(module=g.net, optimizer=g.optimiser) as s:
            for x, y in s([(torch.zeros(4, 8), torch.zeros(4, dtype=torch.long))] * 6):
                made = g.net(x)
                d.criterion(SlowBackward.apply(d.net(x)), y).backward()  # does not reach an output of g
                g.criterion(made, y).backward()
                g.optimiser.step()
        total = column(s.record, "total")
        self.assertGreater(total["other"], 4 * 20_000_000)
        self.assertGreater(total["backward"], 0)
        self.assertLess(min(step.parts_ns[4] for step in s.steps), 20_000_000)
        self.assertIn("of other networks than Sequential", " ".join(n.text for n in s.record.notes))
        self.assertTrue(all(sum(step.parts_ns) == step.wall_ns for step in s.steps))

    def test_wrapped_as_by_accelerate(self):
        """Its optimiser calls the wrapped one once gradients are complete; its loader is a DataLoader with a custom
        iterator. (A mock of the sequence of calls, without the package.)"""
        class Wrapped:
            def __init__(self, optimizer):
                self.optimizer, self.complete = optimizer, False

            def step(self):
                if self.complete:
                    self.optimizer.step()

        class Loader(DataLoader):
            def __iter__(self):
                yield from super().__iter__()

        n = Net()
        optimiser = Wrapped(n.optimiser)
        with deepclock.torch.steps(module=n.net, optimizer=optimiser) as s:
            for i, (x, y) in enumerate(s(Loader(Numbers(4 * 14, asleep=0.01), batch_size=4))):
                optimiser.complete = i % 4 == 3
                n.criterion(n.net(x), y).backward()
                optimiser.step()
        self.assertEqual(column(s.record, "steps")["optimiser"], 3)
        self.assertIn("num_workers=N", " ".join(note.text for note in s.record.notes))

    def test_accumulated_gradients(self):
        n = Net()
        with deepclock.torch.steps(module=n.net, optimizer=n.optimiser) as s:
            for i, (x, y) in enumerate(s(DataLoader(Numbers(4 * 14), batch_size=4))):
                n.criterion(n.net(x), y).backward()
                if i % 4 == 3:
                    n.optimiser.step()
        self.assertEqual(column(s.record, "steps")["optimiser"], 3)
        self.assertGreater(s.record["steps/optimiser"].value, 0)
        self.assertIn("the optimiser ran in 3 of 12 steps", " ".join(n.text for n in s.record.notes))


class AutomaticTest(Case):
    def test_finds_the_parts_and_changes_nothing(self):
        plain, seen = Net(), Net()
        backward, state = torch.autograd.backward, torch.random.get_rng_state()
        plain.train(DataLoader(Numbers(40), batch_size=4))
        after = torch.random.get_rng_state()
        torch.random.set_rng_state(state)
        with deepclock.torch.steps(module=seen.net, optimizer=seen.optimiser) as s:
            seen.train(s(DataLoader(Numbers(40), batch_size=4)))
        self.assertTrue(torch.equal(torch.random.get_rng_state(), after))
        for a, b in zip(plain.net.parameters(), seen.net.parameters()):
            self.assertTrue(torch.equal(a, b))
        self.assertIs(torch.autograd.backward, backward)
        self.assertNotIn("step", vars(seen.optimiser))
        self.assertNotIn("to", vars(torch.Tensor).keys() - {"to"})
        self.assertFalse(seen.net._forward_hooks or seen.net._forward_pre_hooks)
        total = column(s.record, "total")
        self.assertTrue(all(total[p] > 0 for p in COMPUTING), total)
        self.assertEqual(total["to_device"], 0)
        self.assertEqual(s.record.facts["subject/name"].value, "Sequential")

    def test_scheduler_inside_the_block(self):
        n = Net()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with deepclock.torch.steps(module=n.net, optimizer=n.optimiser) as s:
                scheduler = torch.optim.lr_scheduler.StepLR(n.optimiser, 1)
                for batch in s(DataLoader(Numbers(12), batch_size=4)):
                    n.train([batch])
                    scheduler.step()
                    wrapper = n.optimiser.step
            n.train([batch])  # the optimiser still works inside the scheduler's wrapper, which stays
            self.assertIs(n.optimiser.step, wrapper)
            scheduler.step()
        self.assertGreater(column(s.record, "total")["optimiser"], 0)

    def test_validation_is_no_loss(self):
        """A forward pass without gradients has no loss."""
        n = Net()
        with deepclock.torch.steps(module=n.net, optimizer=n.optimiser) as s:
            for x, _ in s(DataLoader(Numbers(12), batch_size=4)):
                with torch.no_grad():
                    n.net(x)
                time.sleep(0.002)
        total = column(s.record, "total")
        self.assertEqual(total["loss"], 0)
        self.assertGreater(total["other"], 0)


class LoaderTest(Case):
    def test_its_processes(self):
        n = Net()
        with deepclock.torch.steps(module=n.net, optimizer=n.optimiser) as s:
            n.train(s(DataLoader(Numbers(60, busy=0.004), batch_size=4, num_workers=2)))
        self.assertEqual(s.record.facts["steps/loader_workers"].value, 2)
        busy = s.record["steps/workers_busy"].value
        # 60 items of 4 ms of CPU time each.
        cpu = sum(step.workers_ns or 0 for step in s.steps)
        self.assertGreater(cpu, 100e6)
        self.assertTrue(0 < busy <= 1.05, busy)

    def test_without_processes(self):
        with deepclock.torch.steps() as s:
            for _ in s(DataLoader(Numbers(10, asleep=0.01), batch_size=2)):
                pass
        self.assertIsNone(s.record["steps/workers_busy"].value)
        self.assertEqual(s.record.facts["steps/bound"].value, "data loading")
        self.assertIn("num_workers=N", s.record.notes[0].text)

    def test_several_epochs(self):
        loader = DataLoader(Numbers(8), batch_size=2)
        with deepclock.torch.steps() as s:
            for _ in range(3):
                for _ in s(loader):
                    with s.forward:
                        pass
                time.sleep(0.01)
        self.assertEqual(len(s.steps), 12)
        self.assertGreater(s.outside_ns, 30e6)


class EndTest(Case):
    def test_break(self):
        """A batch that no part used does not count as a step."""
        for part, expected in ((True, 4), (False, 3)):
            with deepclock.torch.steps() as s:
                for i in s(itertools.count()):
                    if i == 3 and not part:
                        break
                    with s.forward:
                        pass
                    if i == 3:
                        break
            self.assertEqual(len(s.steps), expected)

    def test_exception(self):
        with self.assertRaisesRegex(ZeroDivisionError, "fifth"):
            with deepclock.torch.steps() as s:
                for i in s(range(100)):
                    with s.forward:
                        if i == 5:
                            raise ZeroDivisionError("fifth")
        self.assertTrue(s.record.incomplete)
        self.assertEqual(s.record["steps/count"].value, 5)
        self.assertIn("ZeroDivisionError", s.record.notes[-1].text)

    def test_one_step(self):
        with deepclock.torch.steps() as s:
            for _ in s([0]):
                with s.forward:
                    pass
        self.assertEqual(s.record["steps/count"].value, 1)
        self.assertEqual(column(s.record, "first")["step"], column(s.record, "total")["step"])

    def test_misuse(self):
        with self.assertRaisesRegex(ValueError, "no step was taken: iterate over"):
            with deepclock.torch.steps():
                pass
        with self.assertRaisesRegex(ValueError, "no step was taken: the loader gave no batch"):
            with deepclock.torch.steps() as s:
                for _ in s([]):
                    pass
        with self.assertRaisesRegex(ValueError, "no step was taken: the loop ended before a part of the first step"):
            with deepclock.torch.steps() as s:
                for _ in s([1]):
                    break
        with self.assertRaisesRegex(ValueError, "warmup"):
            deepclock.torch.steps(warmup=0)
        s = deepclock.torch.steps()
        with self.assertRaisesRegex(RuntimeError, "with"):
            s([1])
        with self.assertRaisesRegex(RuntimeError, "another loop"):
            with s:
                for _ in s(range(3)):
                    for _ in s(range(3)):
                        pass
        with self.assertRaisesRegex(RuntimeError, "entered before"):
            s.__enter__()


class Queue:
    """A simulated asynchronous device with a queue, whose work is elapsed time."""

    def __init__(self):
        self.until = 0.0

    def ask(self, seconds):
        self.until = max(self.until, time.perf_counter()) + seconds

    def wait(self):
        left = self.until - time.perf_counter()
        if left > 0:  # sleep(0) would yield the processor
            time.sleep(left)


class DeviceTest(Case):
    def steps(self, work, asking):
        queue = Queue()
        before = _device.waiter
        self.addCleanup(setattr, _device, "waiter", before)
        _device.waiter = lambda device: queue.wait
        with deepclock.torch.steps(operators=False) as s:
            for _ in s(range(15)):
                for part in (s.forward, s.backward):
                    with part:
                        time.sleep(asking)
                        queue.ask(work)
        return s

    def test_the_device_is_waited_for(self):
        s = self.steps(work=0.010, asking=0.0)
        whole = [step for step in s.steps if step.whole]
        apart = [step for step in s.steps[2:] if not step.whole]
        self.assertTrue(len(whole) >= 6 and len(apart) >= 6)
        for step in apart:
            self.assertGreaterEqual(step.parts_ns[2], 10e6)  # forward, including the device's work
            self.assertGreaterEqual(step.parts_ns[4], 10e6)
        self.assertTrue(all(step.parts_ns[2] < 10e6 for step in whole[:1]))
        self.assertEqual(s.record.facts["steps/bound"].value, "compute")
        self.assertEqual(len(s.record.series["steps/whole"].values), len(whole))
        self.assertIsNotNone(s.record["steps/cost"].value)

    def test_the_device_waits(self):
        s = self.steps(work=0.0, asking=0.010)
        self.assertEqual(s.record.facts["steps/bound"].value, "launch")
        self.assertIn("torch.compile", " ".join(n.text for n in s.record.notes))


class BoundTest(Case):
    """The rules on exact input."""

    def evidence(self, **shares):
        all_shares = dict.fromkeys(("data", "to_device", "forward", "loss", "backward", "optimiser", "other",
                                    "deepclock"), 0.0)
        all_shares.update(shares)
        return _step_bound.Evidence(wall_ns=1e7, share=all_shares)

    def test_largest_share(self):
        for part, by in (("data", "data loading"), ("to_device", "transfer"), ("forward", "compute"),
                         ("other", "other")):
            e = self.evidence(**{part: 0.6, "backward" if part != "forward" else "data": 0.4})
            self.assertEqual(_step_bound.bound_of(e).by, by)

    def test_a_step_may_be_too_short(self):
        bound = _step_bound.bound_of(self.evidence(deepclock=0.7, data=0.2, forward=0.1))
        self.assertEqual((bound.by, bound.sentence, len(bound.others)),
                         ("deepclock", "it is too short to be taken apart, which takes 70 % of a step", 1))

    def test_launch_on_the_cpu(self):
        e = self.evidence(forward=0.5, backward=0.4, data=0.1)
        e.operators, e.empty_operator_ns, e.computing_ns = 1000, 4500.0, 9e6
        self.assertEqual(_step_bound.bound_of(e).by, "launch")
        e.operators = 999
        self.assertEqual(_step_bound.bound_of(e).by, "compute")
        self.assertEqual(len(_step_bound.bound_of(e).others), 1)  # data, a tenth

    def test_loader_remedies(self):
        e = self.evidence(data=0.9, forward=0.1)
        for workers, busy, word in ((0, None, "num_workers=N"), (2, 0.95, "more of them"),
                                    (2, 0.2, "disk or a network")):
            e.workers, e.workers_busy = workers, busy
            self.assertIn(word, _step_bound.bound_of(e).remedy)
        e.is_loader = False
        self.assertIn("DataLoader", _step_bound.bound_of(e).remedy)


class LapTest(Case):
    def test_takes_a_loss_with_gradient(self):
        loss = (torch.ones(3, requires_grad=True) * 2).sum()
        with warnings.catch_warnings(), deepclock.lap("one", quiet=True) as lap:
            warnings.simplefilter("error")
            lap["loss"] = loss
        self.assertEqual(lap["loss"], 6)
        self.assertTrue(lap.line.startswith("one | "), lap.line)


assert steps_class is deepclock.torch.steps
if __name__ == "__main__":
    main()
