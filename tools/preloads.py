#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library that is preloaded into a program imports only the symbols of this table, each for a reason:
src/profiler/preload/README.md has the rules.

  preloads.py [--self-test] LIBRARY.so ...
"""

import os
import re
import shutil
import subprocess
import tempfile
import check as c

# Symbols of the compiler and the linker, and assert().
TOOLCHAIN = re.compile(r"_ITM_\w+|__gmon_start__|__cxa_finalize|__stack_chk_fail|__assert_fail|__tls_get_addr|_GLOBAL_OFFSET_TABLE_")
# Safe at any time: async-signal-safe by POSIX, plain system calls, or pure functions of memory.
ANYWHERE = set("""
    __errno_location bcmp memchr memcmp memcpy memmove memset stpcpy strchr strcmp strcpy strlen strncmp strrchr strstr strcspn strspn
    clock_gettime close fcntl fstat ftruncate getpid getppid gettid ioctl madvise mincore mmap munmap open prctl pwrite readlink
    sched_yield syscall unlink write pthread_self pthread_setspecific sigaddset sigdelset sigemptyset sigfillset sigismember
    _dl_find_object dl_iterate_phdr __environ _environ environ __libc_single_threaded __libc_stack_end __progname
    program_invocation_short_name stdin stdout __libc_current_sigrtmax __libc_current_sigrtmin
    """.split())
# Called in the constructor, at the start or exit of a thread, or at program exit; never by a handler or a hook.
SET_UP = {
    "deepclock_preload": {"dlsym dlvsym": "the functions that are interposed", "secure_getenv": "configuration", "fork setsid chdir dup2": "daemon(), whose steps these are",
                          "dck_trace_flush dck_trace_leave dck_trace_on dck_wait_begin dck_wait_end dck_waits_seen "
                          "dck_zone_end dck_zone_start": "the recorder, which has the same rules"},
    "deepclock_mpi": {"dlsym dlopen dladdr": "the real function, at its first call: MPI is called by no handler and not inside malloc",
                      "secure_getenv strtol": "configuration", "strtoull": "the run queue, outside of the call that is timed",
                      "pthread_mutex_lock pthread_mutex_unlock snprintf": "names of groups: of calls that are not of all ranks alone",
                      "dck_trace_on dck_zone_push dck_zone_pop dck_zone_counter": "the recorder"},
    "deepclock_cuda": {"dlopen dlsym dlclose dlerror secure_getenv snprintf __cxa_atexit pthread_create pthread_detach "
                       "pthread_setname_np pthread_sigmask nanosleep": "CUPTI, when the program initialises CUDA",
                       "free pthread_mutex_lock pthread_mutex_unlock": "CUPTI's records: in its own thread, or in one that flushes; "
                       "__cxa_demangle() allocates",
                       "dck_past_name dck_trace_on dck_zone_push dck_zone_pop dck_zone_counter dck_device_flow dck_device_track_open "
                       "dck_device_track_range dck_device_report dck_device_report_source dck_device_report_absent dck_device_report_thread":
                       "the recorder"},
    "deepclock_sampler": {"dlsym secure_getenv sscanf strtoul snprintf sysconf __register_atfork": "configuration",
                          "getauxval": "the kernel's frame of a signal, a value in memory",
                          "pthread_attr_getstack pthread_attr_setstacksize": "room for the handler on the stack of a thread that is made",
                          "malloc free": "the argument of a thread that begins, in its creator",
                          "__pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next __sigsetjmp":
                          "pthread_cleanup_push(): a thread that is cancelled gives its slot back"},
    "deepclock_memory": {"dlsym dlvsym secure_getenv strtoul snprintf vsnprintf getrlimit __register_atfork pthread_key_create pthread_once":
                         "configuration, the end of threads, fork",
                         "access getenv": "names of programs that the process starts, for a note",
                         "dlopen": "a loaded C++ library, where an allocation failed that has to throw",
                         "dladdr1": "the library of an operator new, at the start",
                         "newlocale uselocale freelocale": "the text of an error, with a decimal point",
                         "realpath": "the path of a module, once for each"},
    "deepclock_count": {"dlsym dlvsym dlopen secure_getenv snprintf getrlimit __register_atfork pthread_key_create":
                        "configuration, the end of threads, fork; dlopen(RTLD_NOLOAD) finds the recorder",
                        "access getenv": "names of programs that the process starts, for a note",
                        "sigaltstack": "whether a jump leaves a handler on an alternate stack",
                        "__cxa_at_quick_exit": "the end of a process by quick_exit()",
                        "pthread_attr_destroy pthread_attr_getstack pthread_getattr_np": "the stack of a thread that begins",
                        "realpath": "the path of a module, once for each"},
}


def imported(library):
    out = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    # Strips the suffixes and prefixes of 64-bit off_t and of newer scanf formats.
    return {re.sub(r"^__isoc\d+_|(?<=[a-z])64$", "", n) for n in names if not TOOLCHAIN.fullmatch(n)}


def name_of(library):
    return os.path.basename(library).split(".")[0].removeprefix("lib")


def check(*libraries, **_):
    if not shutil.which("nm"):
        print("skipped: there is no nm")
        return
    for library in libraries:
        name = name_of(library)
        if name not in SET_UP:
            yield f"{name}: has no row in tools/preloads.py"
            continue
        allowed = ANYWHERE | {s for symbols in SET_UP[name] for s in symbols.split()}
        for symbol in sorted(imported(library) - allowed):
            yield f"{name}: imports {symbol}, which its row in tools/preloads.py does not allow"


def self_test(*_):
    bad = {"libdeepclock_memory.so": ("#include <stdio.h>\nvoid f(void) { puts(\"x\"); }\n", "imports puts"),
           "libdeepclock_preload.so": ("#include <string.h>\nsize_t f(const char *s) { return strlen(s); }\n", None),
           "libdeepclock_other.so": ("int f;\n", "has no row")}
    for name, (source, expected) in bad.items():
        with tempfile.TemporaryDirectory() as where:
            library = os.path.join(where, name)
            c.tree(where, {"a.c": source})
            subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-fno-builtin", os.path.join(where, "a.c"),
                            "-o", library], check=True)
            found = list(check(library))
        if (len(found) != (expected is not None)) or (found and expected not in found[0]):
            yield f"self-test: {name}: expected '{expected}', got {found}"


if __name__ == "__main__":
    c.run(check, self_test)
