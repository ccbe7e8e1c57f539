# SPDX-License-Identifier: Apache-2.0
"""examples/c_extension: compiled and timed."""

import os
import shlex
import subprocess
import sys
import sysconfig

from support import Case, deepclock, main

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "c_extension")


class Extension(Case):
    def test_it_is_timed(self):
        module = self.path("dot_extension" + sysconfig.get_config_var("EXT_SUFFIX"))
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-Wall", "-Wextra", "-shared", "-fPIC",
                        "-I" + sysconfig.get_path("include"), os.path.join(EXAMPLE, "dot.c"), "-o", module], check=True)
        packages = os.path.dirname(os.path.dirname(os.path.abspath(deepclock.__file__)))
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(EXAMPLE, "time_dot.py"), "20000"], text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": self.folder + os.pathsep + packages})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("Python", "C extension"):
            self.assertIn(name, done.stdout)


if __name__ == "__main__":
    main()
