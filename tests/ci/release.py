#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/release.sh as a dry run, on a tree that is ready and on trees in which one thing is wrong; the list of materials of
tools/sbom.py.

  release.py --program build/deepclock [CASE]...
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
import common  # noqa: E402
from common import expect  # noqa: E402

args = common.arguments(__doc__)
ENV = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a",
       "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
FILES = ("tools/release.sh", "meson.build", "include/deepclock/base.h", "CHANGELOG.md", "debian/changelog", "debian/control")


def version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        return f.read().split("version: '", 1)[1].split("'", 1)[0]


def change(path, old, new):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    expect(old in text, f"{path}: no {old}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new, 1))


def git(*words):
    subprocess.run(["git", *words], check=True, capture_output=True, env=ENV)


def tree():
    """Makes a tree that is ready."""
    for path in FILES:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        shutil.copy(os.path.join(ROOT, path), path)
    with open("CHANGELOG.md", encoding="utf-8") as f:
        text = re.sub(rf"(?m)^## {re.escape(version())} \(.*\)$", f"## {version()} (2030-01-01)", f.read())
    with open("CHANGELOG.md", "w", encoding="utf-8") as f:
        f.write(text)
    os.makedirs("tests/fixtures/" + version().rsplit(".", 1)[0])
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "all")


def dry(*words, status):
    done = subprocess.run(["tools/release.sh", "--dry-run", *words], capture_output=True, text=True, check=False, env=ENV)
    expect(done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def ready():
    tree()
    said = dry(version(), status=0)
    expect("FAILS" not in said and "\n.ci/run\n" in said and "git tag -s v" + version() in said, said)
    expect(not os.path.exists("build"), "a dry run makes nothing")
    expect("usage:" in dry("one", status=2) and "usage:" in dry(status=2), "usage")


def wrong():
    for path, old, new, said in (
            ("meson.build", f"version: '{version()}'", "version: '9.9.9'", "meson.build has version"),
            ("debian/control", "Package: libdeepclock", "Package: libdeepclock9", "debian/control has the soname"),
            ("include/deepclock/base.h", f'"{version()}"', '"9.9.9"', "base.h has version"),
            ("include/deepclock/base.h", "DCK_VERSION_PATCH ", "DCK_VERSION_PATCH 9", "base.h has the numbers"),
            ("debian/changelog", f"({version().replace('-', '~')})", "(9.9.9)", "debian/changelog begins with"),
            ("CHANGELOG.md", "(2030-01-01)", "(unreleased)", "CHANGELOG.md has")):
        shutil.rmtree("t", ignore_errors=True)
        os.mkdir("t")
        os.chdir("t")
        tree()
        change(path, old, new)
        found = [line for line in dry(version(), status=1).splitlines() if line.startswith("FAILS: ")]
        expect(len(found) == 2 and said in found[0] and "nothing is uncommitted" in found[1], f"{path}: {found}")
        os.chdir("..")


def materials():
    with open("a.whl", "wb") as f:
        f.write(b"a")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "sbom.py"), os.path.dirname(args.program), "1.2.3", "a.whl"],
                          capture_output=True, text=True, check=True)
    bom = json.loads(done.stdout)
    expect(bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["version"] == "1.2.3", bom)
    names = {c["name"] for c in bom["components"]}
    expect({"jansson", "sqlite3", "zlib", "a.whl"} <= names, names)
    expect(bom["components"][-1]["hashes"][0]["content"] == hashlib.sha256(b"a").hexdigest(), bom["components"][-1])
    refs = [c["bom-ref"] for c in bom["components"]]
    expect(len(refs) == len(set(refs)) and set(bom["dependencies"][0]["dependsOn"]) <= set(refs), refs)


if __name__ == "__main__":
    common.run([("a tree that is ready", ready), ("one thing wrong", wrong), ("the list of materials", materials)], args.prefixes)
