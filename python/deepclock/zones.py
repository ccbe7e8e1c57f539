# SPDX-License-Identifier: Apache-2.0
"""Zones around functions of every kind, for the decorator `@deepclock.zone`.

A generator's zone is open only while its body runs, also while close() runs its cleanup. A
coroutine's zone is a separate range from its start to its end, including what it awaits: coroutines
interleave on a thread, so their ranges do not nest, and each shows how long a request took.
"""

import functools
import inspect

from ._deepclock import _place, pop, push, start


def decorate(name, function):
    """Returns `function` with a zone around it; name None: the function's name."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(name, function.__func__))
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"a zone decorates a function: {function!r} is not one")
    name = name or _name_of(function)
    code = getattr(function, "__code__", None)
    if inspect.iscode(code):
        _place(name, code)
    called = type(function).__call__  # of an object; a function's is of no kind
    around = next((around for is_kind, around in _KINDS if is_kind(function) or is_kind(called)), _around_function)
    return functools.update_wrapper(around(function, name), function)


def _name_of(function):
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]


def _around_function(function, name):
    def in_zone(*args, **kwargs):
        push(name)
        try:
            return function(*args, **kwargs)
        finally:
            pop()

    return in_zone


def _around_coroutine(function, name):
    async def in_zone(*args, **kwargs):
        opened = start(name)
        try:
            return await function(*args, **kwargs)
        finally:
            opened.end()

    return in_zone


def _around_generator(function, name):
    def in_zone(*args, **kwargs):
        inner = function(*args, **kwargs)
        step, value = inner.send, None
        try:
            while True:
                push(name)
                try:
                    made = step(value)
                except StopIteration as end:
                    return end.value
                finally:
                    pop()
                try:
                    step, value = inner.send, (yield made)
                except GeneratorExit:
                    push(name)
                    try:
                        inner.close()
                    finally:
                        pop()
                    raise
                except BaseException as error:
                    step, value = inner.throw, error
        finally:
            inner.close()  # has an effect only after an exception between two steps

    return in_zone


def _around_async_generator(function, name):
    async def in_zone(*args, **kwargs):
        inner = function(*args, **kwargs)
        step, value = inner.asend, None
        try:
            while True:
                opened = start(name)
                try:
                    made = await step(value)
                except StopAsyncIteration:
                    return
                finally:
                    opened.end()
                try:
                    step, value = inner.asend, (yield made)
                except GeneratorExit:
                    opened = start(name)
                    try:
                        await inner.aclose()
                    finally:
                        opened.end()
                    raise
                except BaseException as error:
                    step, value = inner.athrow, error
        finally:
            await inner.aclose()  # has an effect only after an exception between two steps

    return in_zone


def _is_generator_to_await(function):
    """Returns whether @types.coroutine decorated it."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return bool(flags & inspect.CO_ITERABLE_COROUTINE)


_KINDS = (
    (inspect.iscoroutinefunction, _around_coroutine),
    (_is_generator_to_await, _around_coroutine),
    (inspect.isasyncgenfunction, _around_async_generator),
    (inspect.isgeneratorfunction, _around_generator),
)
