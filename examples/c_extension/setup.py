# SPDX-License-Identifier: Apache-2.0
"""python setup.py build_ext --inplace: compiles dot.c in this directory."""

from setuptools import Extension, setup

setup(name="dot_extension", version="1", ext_modules=[Extension("dot_extension", ["dot.c"], extra_compile_args=["-O2"])])
