# SPDX-License-Identifier: Apache-2.0
"""Laps of a Python program: printed lines, dicts for loggers, and the record."""

import contextlib
import copy
import glob
import importlib.util
import io
import os
import pickle
import pty
import select
import subprocess
import sys
import threading
import time
from unittest import mock

from support import Case, deepclock, main


@contextlib.contextmanager
def printed():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        yield out


def needs(*modules):
    """Returns the reason to skip the test, or None if all modules are installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None


class LapTest(Case):
    def setUp(self):
        super().setUp()
        deepclock.laps_reset()

    def test_wrong_total(self):
        for total in (-1, "3", 2.5):
            with self.assertRaisesRegex(deepclock.ArgumentError, "total="):
                deepclock.lap("x", total=total)

    def test_small_times_are_written_as_everywhere(self):
        with deepclock.lap("short", quiet=True) as lap:
            pass
        self.assertNotRegex(lap.line, r"\d us\b")

    def test_line_and_numbers(self):
        with printed() as out:
            for _ in range(2):
                with deepclock.lap("epoch", total=5) as lap:
                    self.assertGreaterEqual(lap.wall, 0)
                    self.assertIsNone(lap.cpu)
                    lap["loss"] = 0.25
                    lap.items = 60000
                    time.sleep(0.002)
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"^epoch 2/5 \| loss 0.25 \| [\d.]+ \w+ wall, [\d.]+ \w+ cpu \| "
                                   r"[\d,.kM]+ items/s \| left [\d.]+ \w+$")
        self.assertEqual((lap.index, lap.line), (2, lines[1]))
        self.assertGreaterEqual(lap.wall, 0.002)
        self.assertAlmostEqual(lap.rate, 60000 / lap.wall)
        self.assertEqual(dict(lap), {"loss": 0.25, "items": 60000, "wall_seconds": lap.wall,
                                     "cpu_seconds": lap.cpu, "items_per_second": lap.rate})
        series = deepclock.laps_record().series["laps/epoch/wall"]
        self.assertEqual(series.values[1], round(lap.wall * 1e9))

    def test_a_cell_that_is_run_again_counts_from_1(self):
        with printed() as out:
            for _ in range(2):
                for _ in range(2):
                    with deepclock.lap("Epoch", total=2):
                        pass
        self.assertEqual([line.split(" | ")[0] for line in out.getvalue().splitlines()],
                         ["Epoch 1/2", "Epoch 2/2"] * 2)
        self.assertEqual(out.getvalue().count(" | left "), 2)

    def test_items_is_number_and_method(self):
        with deepclock.lap("a", quiet=True) as lap:
            self.assertEqual(lap.items, 0)
            lap.items = 3
            self.assertEqual(lap.items + 1, 4)
            self.assertEqual(list(lap.items()), [("items", 3)])
            self.assertEqual(repr(copy.copy(lap.items)), "3")
            lap.items = 4.0
            self.assertEqual(repr(pickle.loads(pickle.dumps(lap.items))), "4")
            lap.items = 2.5
            self.assertEqual((lap.items, lap.items + 1), (2.5, 3.5))
            self.assertEqual(list(lap.items()), [("items", 2.5)])
            self.assertEqual(repr(pickle.loads(pickle.dumps(lap.items))), "2.5")

    def test_numbers_of_all_kinds(self):
        class Number:
            def __float__(self):
                return 0.5

        with deepclock.lap("a", quiet=True) as lap:
            lap.update({"x": 1}, y=Number())
            lap |= {"z": float("nan")}
            self.assertEqual(lap.setdefault("x", 7), 1)
            lap.value("read", 3e9, "B")
            with self.assertRaises((TypeError, ValueError)):
                lap["text"] = "no number"
        self.assertEqual((lap["x"], lap["y"], lap["read"]), (1, 0.5, 3e9))
        self.assertRegex(lap.line, r"\| z nan \| read 2.79 GiB \|")
        self.assertNotIn("laps/a/z", deepclock.laps_record().series)
        with deepclock.lap("a", quiet=True) as lap:
            lap["step"] = 12345
            for n in (-1, float("nan"), float("inf")):
                with self.assertRaisesRegex(deepclock.ArgumentError, "items="):
                    lap.items = n
        self.assertIn(" | step 12,345 | ", lap.line)
        record = deepclock.laps_record()
        self.assertEqual(list(record.series["laps/a/y"].values), [0.5])
        with self.assertRaises(deepclock.ArgumentError):
            lap["late"] = 1

    def test_quiet_stamps_and_exceptions(self):
        with printed() as out:
            with deepclock.lap("quiet", quiet=True):
                pass
            with contextlib.suppress(KeyError), deepclock.lap("stamped", stamps=True) as lap:
                raise KeyError
        self.assertRegex(out.getvalue(), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d stamped \| .*\n$")
        self.assertIsNotNone(lap.wall)
        with printed(), self.assertRaises(deepclock.ArgumentError), lap, lap:
            pass

    def test_inside_one_another_and_threads(self):
        def step():
            with deepclock.lap("step", quiet=True):
                pass

        with deepclock.lap("epoch", quiet=True):
            for _ in range(3):
                step()
            threads = [threading.Thread(target=step) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual({r["name"]: r["laps"] for r in deepclock.laps_record().tables["laps"]},
                         {"epoch": 1, "step": 7})

    def test_ends_in_a_forked_child(self):
        readable, writable = os.pipe()
        with deepclock.lap("parent", quiet=True) as lap:
            sum(range(300_000))
            child = os.fork()
            if child == 0:
                try:
                    lap.stop()
                    values = [v for s in deepclock.laps_record().series.values() for v in s.values]
                    os.write(writable, repr(max(values)).encode())
                finally:
                    os._exit(0)
        os.close(writable)
        with open(readable) as file:
            self.assertLess(float(file.read()), 1e15)  # 11 days in ns; a difference below 0 is 584 years
        os.waitpid(child, 0)

    def test_device_that_fails(self):
        def fails():
            raise RuntimeError("the device is lost")

        lap = deepclock.lap("lost", quiet=True)
        with mock.patch("deepclock._accelerator.span", lambda: fails):
            with self.assertWarnsRegex(RuntimeWarning, "the device is lost"), self.assertRaises(ZeroDivisionError), lap:
                1 / 0
        self.assertEqual(deepclock.laps_record().facts["laps/open"].value, 0)
        lap.start().stop()

    def test_interrupted_while_it_waits_for_the_device(self):
        def waits():
            raise KeyboardInterrupt

        with mock.patch("deepclock._accelerator.span", lambda: waits), printed() as out:
            with self.assertRaises(KeyboardInterrupt), deepclock.lap("cut") as lap:
                pass
        self.assertRegex(out.getvalue(), r"^cut \| .* wall")
        self.assertIsNotNone(lap.wall)
        self.assertEqual(deepclock.laps_record().facts["laps/open"].value, 0)

    def test_output_that_cannot_take_the_line(self):
        ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        closed = io.StringIO()
        closed.close()
        for stream in (ascii_only, closed):
            with contextlib.redirect_stdout(stream), deepclock.lap("épo", total=2):
                pass
        self.assertRegex(ascii_only.buffer.getvalue().decode(), r"^\?po 1/2 \| ")

    def test_total_of_any_whole_number(self):
        class Five:
            def __index__(self):
                return 5

        with deepclock.lap("five", total=Five(), quiet=True) as lap:
            pass
        self.assertIn("1/5", lap.line)

    def test_copies_are_dicts(self):
        with deepclock.lap("copied", quiet=True) as lap:
            lap["loss"] = 0.5
        for other in (copy.copy(lap), copy.deepcopy(lap), pickle.loads(pickle.dumps(lap))):
            self.assertIs(type(other), dict)
            self.assertEqual(other, dict(lap))

    def test_is_on_the_timeline(self):
        with deepclock.trace() as t, deepclock.lap("epoch", quiet=True):
            pass
        self.assertEqual([r["name"] for r in t.record.tables["zones"]], ["epoch"])

    def test_no_references_leak(self):
        def many():
            for _ in range(200):
                with deepclock.lap("a", quiet=True) as lap:
                    lap["loss"] = 0.5
                    lap.items = 5
                    lap.items()
                deepclock.laps_reset()

        many()
        before = sys.getallocatedblocks()
        many()
        self.assertLess(abs(sys.getallocatedblocks() - before), 50)

    def test_tensorboard_file(self):
        folder = self.path("board")
        code = ("import deepclock\n"
                f"with deepclock.lap('epoch', quiet=True, tensorboard={folder!r}) as lap:\n"
                "    lap['loss'] = 0.5\n"
                "    lap.items = 10\n"
                "with deepclock.lap('epoch', quiet=True) as lap: lap['loss'] = 0.25\n")
        subprocess.run([sys.executable, "-c", code], check=True)
        (file,) = glob.glob(folder + "/*")
        with open(file, "rb") as opened:
            data = opened.read()
        for tag in (b"epoch/loss", b"epoch/wall_seconds", b"epoch/cpu_seconds",
                    b"epoch/items_per_second", b"epoch/resident_bytes"):
            self.assertIn(tag, data)
        self.assertEqual(data.count(b"epoch/loss"), 2)
        with self.assertRaises(deepclock.IoError):
            with deepclock.lap("epoch", tensorboard=file):
                pass

    def test_live_line_on_a_terminal(self):
        code = ("import deepclock, time\n"
                "with deepclock.lap('epoch', total=3):\n"
                "    time.sleep(1.6)\n")
        reader, writer = pty.openpty()
        program = subprocess.Popen([sys.executable, "-c", code], stdout=writer, stderr=writer)
        os.close(writer)
        seen, until = b"", time.monotonic() + 60
        while time.monotonic() < until and select.select([reader], [], [], 60)[0]:
            try:
                seen += os.read(reader, 4096)
            except OSError:  # the other end is closed
                break
        os.close(reader)
        self.assertEqual(program.wait(), 0)
        text = seen.decode()
        self.assertRegex(text, r"\r\x1b\[Kepoch 1/3 1\.\d+ s")
        self.assertRegex(text, r"\r\x1b\[Kepoch 1/3 \| 1\.\d+ s wall, [^\r]*\r\n(\r\x1b\[K)?$")


class LoggerTest(Case):
    def test_summary_writer(self):
        why = needs("torch", "tensorboard")
        if why:
            self.skipTest(why)
        code = ("import deepclock, torch, glob\n"
                "from torch.utils.tensorboard import SummaryWriter\n"
                "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
                "w = SummaryWriter('board')\n"
                "with deepclock.lap('epoch', quiet=True) as lap:\n"
                "    lap['loss'] = torch.tensor(0.5)\n"
                "    lap.items = 10\n"
                "w.add_scalars('epoch', lap, 1)\n"
                "for k, v in lap.items(): w.add_scalar(k, v, 1)\n"
                "w.close()\n"
                "e = EventAccumulator('board'); e.Reload()\n"
                "assert set(e.Tags()['scalars']) == set(lap), e.Tags()\n"
                "assert e.Scalars('loss')[0].value == 0.5\n"
                "assert len(glob.glob('board/epoch_*')) == len(lap)\n")
        self.run_here(code)

    def test_wandb_offline(self):
        why = needs("wandb")
        if why:
            self.skipTest(why)
        code = ("import deepclock, wandb\n"
                "run = wandb.init(project='deepclock', mode='offline', dir='.')\n"
                "with deepclock.lap('epoch', quiet=True) as lap: lap['loss'] = 0.5\n"
                "wandb.log(dict(lap))\n"
                "wandb.log(lap)\n"
                "assert dict(run.summary)['loss'] == 0.5, run.summary\n"
                "assert set(lap) <= set(dict(run.summary))\n"
                "run.finish()\n")
        self.run_here(code)

    def run_here(self, code):
        env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(
            deepclock.__file__)))}
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=self.folder, env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    main()
