# SPDX-License-Identifier: Apache-2.0
"""Arrays as option values: which ones are read, which are refused, and that all references are released."""

import array
import gc
import sys
import unittest
import weakref

from support import Case, deepclock, main, needs_model, short

try:
    import numpy
except ImportError:
    numpy = None
needs_numpy = unittest.skipUnless(numpy, "NumPy is not there")
SIZE = (1, 3, 32, 32)


class OnlyDLPack:
    """An array with DLPack but no buffer protocol, as PyTorch's tensors."""

    def __init__(self, of, device=(1, 0)):
        self.of, self.device = of, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.of.__dlpack__(**options)


def images(value=0.5, size=SIZE):
    return numpy.full(size, value, numpy.float32)


def fed(x, **options):
    options = {"image_size": 32, **short(), **options}
    return deepclock.bench_model("zoo:conv2d", input={"input": x}, **options)


class NumbersTest(Case):
    @needs_numpy
    def test_times_of_numpy(self):
        for value in (numpy.timedelta64(50, "ms"), numpy.float32(0.05), numpy.timedelta64(50_000_000, "ns")):
            with self.subTest(value):
                r = deepclock.bench(lambda: None, max_time=value, no_history=True)
                self.assertAlmostEqual(r.facts["plan/max-time"].value, 50e6, delta=1)

    def test_zero_byte_in_a_dict(self):
        with self.assertRaisesRegex(ValueError, "zero byte"):
            deepclock.bench_model("zoo:conv2d", shape={"input": "1\0x3"})


class Taken(Case):
    def test_the_buffer_protocol_without_numpy(self):
        y, p = array.array("q", [0, 1, 2, 1]), array.array("i", [0, 1, 2, 2])
        r = deepclock.accuracy(labels=y, predictions=p, no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 0.75)
        self.assertEqual(r.facts["accuracy/labels"].value, "array.array#1")
        self.assertEqual(r.command, "deepclock accuracy --labels 'array.array#1' --predictions 'array.array#2'")
        y.append(3)  # no view of it is left
        scores = memoryview(array.array("d", [1, 0, 0, 1, .5, .6, 2, 1])).cast("B").cast("d", (4, 2))
        r = deepclock.accuracy(labels=memoryview(bytes([0, 1, 1, 0])), predictions=scores, no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 1.0)

    def test_lists_and_tuples(self):
        y = [0, 1, 1, 2, 0]
        r = deepclock.accuracy(labels=y, predictions=(0, 1.0, True, 2, 2), no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 0.8)
        self.assertEqual(r.command, "deepclock accuracy --labels 'list#1' --predictions 'tuple#2'")
        self.assertEqual(y, [0, 1, 1, 2, 0])
        r = deepclock.accuracy(labels=y, predictions=[[.1, .9, 0], [1, 2, 3], [1, 2, 0], (3, 1, 0), (1, 0, 0)], top_k=2,
                               no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 0.4)
        self.assertEqual(r["accuracy/top_k"].value, 0.8)
        r = deepclock.accuracy(labels=("cat", "dög", "dög"), predictions=["cat", "dög", "cat"], no_history=True)
        self.assertAlmostEqual(r["accuracy/overall"].value, 2 / 3)
        self.assertEqual(r["recall/dög"].value, 0.5)
        for wrong in ([1, "a", 1, 1, 1], [[1, 2], [1]], [None] * 5, [[]] * 5):
            with self.assertRaisesRegex(deepclock.ArgumentError, "labels are numbers|rows of scores"):
                deepclock.accuracy(labels=y, predictions=wrong, no_history=True)
        with self.assertRaisesRegex(deepclock.FormatError, "holds no labels"):
            deepclock.accuracy(labels=[], predictions=y, no_history=True)
        with self.assertRaisesRegex(deepclock.ArgumentError, "whole numbers"):
            deepclock.accuracy(labels=[1 << 64], predictions=[1], no_history=True)

    def test_several_predictions(self):
        r = deepclock.accuracy(labels=[0, 1, 1], predictions={"a": [0, 1, 0], "b": array.array("q", [0, 1, 1])},
                               no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 2 / 3)
        self.assertEqual([row["predictions"] for row in r.tables["accuracy/alternatives"]], ["a", "b"])
        self.assertEqual(r.facts["accuracy/predictions/b"].value, "array.array#3")

    def test_the_text_is_that_of_scikit_learn(self):
        y, p, names = [0, 1, 1, 2, 0], [0, 1, 2, 2, 0], ["cat", "dog", "shirt"]
        text = str(deepclock.accuracy(labels=y, predictions=p, target_names=names, no_history=True))
        self.assertIn("              precision    recall  f1-score   support\n\n"
                      "         cat       1.00      1.00      1.00         2\n", text)
        self.assertIn("weighted avg       0.90      0.80      0.80         5\n", text)

    @needs_numpy
    def test_arrays_of_texts(self):
        for dtype in (None, object):
            r = deepclock.accuracy(labels=numpy.array(["a", "b"], dtype=dtype), predictions=["a", "a"], no_history=True)
            self.assertEqual(r["accuracy/overall"].value, 0.5)

    @needs_numpy
    def test_dlpack(self):
        scores = numpy.eye(3)[[0, 1, 2, 2]]
        for given in (scores, OnlyDLPack(scores), OnlyDLPack(scores, (3, 0))):
            r = deepclock.accuracy(labels=OnlyDLPack(numpy.array([0, 1, 2, 1])), predictions=given, no_history=True)
            self.assertEqual(r["accuracy/overall"].value, 0.75)

    @needs_numpy
    def test_rows_in_any_order(self):
        scores = numpy.random.default_rng(1).random((50, 7))
        want = scores.argmax(1)
        turned = numpy.asfortranarray(scores)
        wide = numpy.repeat(scores, 3, axis=1)[:, ::3]
        backward = numpy.ascontiguousarray(scores[::-1, ::-1])[::-1, ::-1]
        for given in (scores, turned, wide, backward):
            for x in (given, OnlyDLPack(given)):
                r = deepclock.accuracy(labels=want, predictions=x, no_history=True)
                self.assertEqual(r["accuracy/overall"].value, 1.0)
        one = numpy.lib.stride_tricks.as_strided(numpy.array([2]), (50,), (0,))
        r = deepclock.accuracy(labels=one, predictions=one, no_history=True)
        self.assertEqual(r["accuracy/overall"].value, 1.0)

    @needs_numpy
    @needs_model
    def test_inputs_of_models(self):
        for x in (images(), images().transpose(0, 1, 3, 2), OnlyDLPack(images()), memoryview(images())):
            name = type(x).__module__ + "." if isinstance(x, numpy.ndarray) else ""
            text = fed(x).facts["subject/input/input"].value
            self.assertEqual(text, f"1x3x32x32 float32, from '{name}{type(x).__name__}#1'")
        # 0-dimensional arrays count as numbers, as 0.5 does.
        self.assertIn("0.5", fed(numpy.float32(0.5)).facts["subject/input/input"].value)
        r = deepclock.bench_model("zoo:conv2d", image_size=32, input=images(), **short())
        self.assertIn("numpy.ndarray#1", r.facts["subject/input/input"].value)

    @needs_numpy
    @needs_model
    def test_values_reach_the_model(self):
        """The scores of a network on items in memory are those on the same items in a file."""
        x = numpy.random.default_rng(2).random((6, 784), numpy.float32)
        numpy.save(self.path("x.npy"), x)
        options = {"no_history": True, "quiet": True}
        rows = []
        for given in (self.path("x.npy"), x, {"input": numpy.asfortranarray(x)}, OnlyDLPack(x)):
            r = deepclock.accuracy("zoo:simplenet", inputs=given, labels=numpy.zeros(6, int), **options)
            rows.append([dict(row) for row in r.tables["accuracy/classes"]])
        self.assertTrue(rows[0])
        self.assertEqual(rows, rows[:1] * 4)
        r = deepclock.profile("zoo:simplenet", input=x[:1], no_roofs=True, no_memory=True, profile_runs=4, runs=5, warmup=2,
                              **options)
        self.assertIn("numpy.ndarray#1", r.facts["subject/input/input"].value)
        r = deepclock.compare({"a": "zoo:simplenet", "b": "zoo:simplenet"}, input=x[:1], rounds=6, **options)
        self.assertTrue(r.verdict)


class Refused(Case):
    def refused(self, sentence, x, **options):
        with self.assertRaisesRegex(Exception, sentence) as caught:
            fed(x, **options)
        return type(caught.exception)

    @needs_numpy
    @needs_model
    def test_each_with_one_sentence(self):
        argument = deepclock.ArgumentError
        for sentence, x in (
                ("has float64, the input 'input' needs float32: .*astype", images().astype(float)),
                ("the shape 1x3x32x31, but the model fixes", images(size=(1, 3, 32, 31))),
                ("1 dimensions .*the model needs 4", array.array("f", [1])),
                ("this machine's byte order", images().astype(">f4")),
                ("format 'O'", numpy.array([None])),
                ("masked items", numpy.ma.masked_greater(images(), 0.4)),
                ("17 dimensions: at most 16", numpy.zeros((1,) * 17, numpy.float32)),
                ("17 dimensions: at most 16", OnlyDLPack(numpy.zeros((1,) * 17, numpy.float32))),
                ("memory of a device .*type 2, number 1.*cpu", OnlyDLPack(images(), (2, 1)))):
            with self.subTest(sentence):
                self.assertIs(self.refused(sentence, x), argument)
        self.assertIs(self.refused("fresh processes do not see 'numpy.ndarray#1'.*numpy.save", images(), processes=2),
                      deepclock.UnsupportedError)
        # An exception of the array's library is raised unchanged.
        self.assertIs(self.refused("planted", OnlyDLPack(Broken())), BufferError)
        self.assertIs(self.refused("returns is not a tensor: int", OnlyDLPack(Nonsense())), argument)
        with self.assertRaises(TypeError):
            deepclock.bench_model("zoo:conv2d", shape={"input": images()})


class Broken:
    def __dlpack__(self):
        raise BufferError("planted")


class Nonsense:
    def __dlpack__(self):
        return 7


@needs_numpy
@needs_model
class Ownership(Case):
    def test_all_is_given_back(self):
        x = images()
        for call in (lambda: fed(x), lambda: fed(OnlyDLPack(x)), lambda: fed(x.T.astype(float)),
                     lambda: fed(OnlyDLPack(x.T))):
            before = sys.getrefcount(x)
            for _ in range(3):
                try:
                    call()
                except deepclock.Error:
                    pass
            gc.collect()
            self.assertEqual(sys.getrefcount(x), before)
        growing = bytearray(8 * 4)
        deepclock.accuracy(labels=memoryview(growing).cast("q"), predictions=memoryview(growing).cast("q"),
                           no_history=True)
        growing.append(1)  # BufferError if a view is left

    def test_the_array_may_go_while_it_is_measured(self):
        given = {"input": images()}
        alive = weakref.ref(given["input"])
        seen = []

        def look(progress):
            if given:
                given.clear()
            seen.append(alive() is not None)

        r = deepclock.bench_model("zoo:conv2d", input=given, image_size=32, progress=look, warmup=2,
                                  time=0.5, no_history=True)
        self.assertIn("numpy.ndarray#1", r.facts["subject/input/input"].value)
        self.assertTrue(seen and all(seen))  # held until the call returns
        self.assertIsNone(alive())

    def test_a_dict_that_its_array_empties(self):
        class Emptying(OnlyDLPack):
            def __dlpack__(self, **options):
                given.clear()
                return super().__dlpack__(**options)

        given = {"".join(("in", "put")): Emptying(images())}
        r = deepclock.bench_model("zoo:conv2d", input=given, image_size=32, **short())
        self.assertIn("Emptying#1", r.facts["subject/input/input"].value)

    def test_many_arrays(self):
        with self.assertRaisesRegex(deepclock.ArgumentError, "more than 64 arrays"):
            deepclock.bench_model("zoo:conv2d", input=[images() for _ in range(65)])


if __name__ == "__main__":
    main()
