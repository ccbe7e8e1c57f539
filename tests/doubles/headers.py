#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles comparisons of our *_api.h with the headers of NVIDIA and AMD.

  headers.py --headers DIR [--cc "gcc"]

DIR has cuda.h, cupti*.h, nvml.h and hip/hip_runtime_api.h (tools/setup.sh extras); a header that it lacks is looked for
where toolkits install it. A comparison must also notice a wrong number, or it would compare nothing.
"""

import argparse
import functools
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "real"))
from common import Skipped, run
SOURCE = os.path.join(HERE, "..", "..", "src")
OURS = ("device/cuda_api.h", "device/nvml_api.h", "device/cupti_api.h")
# name: header, source, more arguments, a constant of ours and a wrong value
CASES = {
    "cuda": ("cuda.h", "headers_cuda.c", [], ("API_NOT_READY = 600", "API_NOT_READY = 601")),
    "cuda prototypes": ("cuda.h", "headers_cuda.c", [], ("cuStreamQuery, hipStreamQuery, (api_stream)",
                                                        "cuStreamQuery, hipStreamQuery, (api_event)")),
    "hip": ("hip/hip_runtime_api.h", "headers_cuda.c", ["-DWITH_HIP", "-D__HIP_PLATFORM_AMD__", "-D__HIP_PLATFORM_HCC__"],
            ("HIP_UNITS = 63", "HIP_UNITS = 16")),
    "cupti": ("cupti_activity.h", "headers_cupti.c", [], ("CUPTI_API_COPY_PEER = 22", "CUPTI_API_COPY_PEER = 21")),
    "cupti records": ("cupti_activity.h", "headers_cupti.c", [], ("uint8_t unused_2[40]", "uint8_t unused_2[36]")),
    "nvml": ("nvml.h", "headers_nvml.c", [], ("NVML_API_CLOCK_SM = 1", "NVML_API_CLOCK_SM = 0")),
}
ELSEWHERE = ["/usr/local/cuda/include", "/opt/rocm/include", "/usr/include"]


def compiles(cc, source, include, more, own):
    system = [x for d in (include, *ELSEWHERE) if os.path.isdir(d) for x in ("-isystem", d)]
    done = subprocess.run([*cc, "-std=c17", "-fsyntax-only", "-w", "-I", own, "-I", SOURCE, *system, *more, source],
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode == 0, done.stderr


def changed(old, new):
    """Copies our headers to this directory with one text replaced."""
    found = 0
    for name in OURS:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
            text = f.read()
        found += text.count(old)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
    assert found == 1, f"'{old}' is {found} times in our headers"


def newest_records(include):
    """The newest of CUPTI's numbered records there, for headers_cupti.c."""
    with open(os.path.join(include, "cupti_activity.h"), encoding="utf-8") as f:
        text = f.read()
    records = {"KERNEL": "Kernel", "COPY": "Memcpy", "COPY_PEER": "MemcpyPtoP", "SET": "Memset"}
    numbers = {name: max(re.findall(rf"}} CUpti_Activity{record}(\d+);", text), key=int) for name, record in records.items()}
    # generated_cuda_meta.h has the parameters of calls as old as the first CUDA.
    return ["-D__CUDA_API_VERSION_INTERNAL"] + [f"-D{name}=CUpti_Activity{records[name]}{number}" for name, number in numbers.items()]


def compare(cc, headers, case):
    header, source, more, (old, new) = case
    include = next((d for d in (headers, *ELSEWHERE) if os.path.exists(os.path.join(d, header))), None)
    if not include:
        raise Skipped(f"there is no {header}: 'make test-all' fetches it")
    if header == "cupti_activity.h":
        more = newest_records(include)
    source = os.path.join(HERE, source)
    good, text = compiles(cc, source, include, more, SOURCE)
    assert good, text
    changed(old, new)
    assert not compiles(cc, source, include, more, os.getcwd())[0], f"a wrong '{new}' is not noticed"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--headers", required=True)
    p.add_argument("--cc", default=os.environ.get("CC", "cc"))
    a = p.parse_args()
    run([(name, functools.partial(compare, a.cc.split(), os.path.abspath(a.headers), case)) for name, case in CASES.items()])


if __name__ == "__main__":
    main()
