#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/compare_commits.py and the steps of action.yml on repositories made here: a commit that takes much longer, one that
takes as long as its base, the comment of a pull request through a server that plays GitHub's API, and each mistake.

  compare_commits.py --program build/deepclock [CASE]...

The changes are so large that a loaded machine cannot hide them; bench/commits.py measures how often one of 5 % is found.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
import common  # noqa: E402
from common import expect  # noqa: E402

SCRIPT = os.path.join(ROOT, "ci", "compare_commits.py")
TOKEN = "a-token-of-nobody"
# On a loaded machine the start of a program takes a tenth of a second and more: the verdict of nine rounds allows for one in which it
# takes more than a second.
LARGE = ["--min-change", "30%", "--budget", "60s", "--options=--rounds 9"]
SAME = ["--min-change", "300%", "--budget", "2s"]
args = common.arguments(__doc__)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_", "DEEPCLOCK_CI_"))}
    env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
               GIT_COMMITTER_EMAIL="a@b", no_proxy="127.0.0.1", PYTHONDONTWRITEBYTECODE="1")
    env.update(more)
    return env


def git(*words):
    subprocess.run(["git", *words], check=True, env=environment(), capture_output=True)


def repository(*seconds):
    """Makes a repository with a commit for each time that ./app, which is built from app.in, takes."""
    if not shutil.which("git"):
        raise common.Skipped("git is not installed")
    os.mkdir("a repository")
    os.chdir("a repository")
    git("init", "-q", ".")
    for s in seconds:
        with open("app.in", "w", encoding="utf-8") as f:
            # It fails where the token is in its environment.
            f.write(f"#!/bin/sh\n! env | grep -q {TOKEN} && sleep {s}\n")
        git("add", "app.in")
        git("commit", "-q", "--allow-empty", "-m", str(s))


BUILD = ["--build", "cp app.in app && chmod +x app"]


def job(*words, status=0, **env):
    done = subprocess.run([sys.executable, SCRIPT, "--program", args.program, "--out", "out", *words],
                          env=environment(**env), capture_output=True, text=True, check=False)
    expect(done.returncode == status, f"status {done.returncode}, not {status}: {done.stdout}\n{done.stderr}")
    left = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=False, env=environment())
    expect(len(left.stdout.splitlines()) <= 1, left.stdout)
    return done


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Api(http.server.BaseHTTPRequestHandler):
    """Plays the comments of one pull request of GitHub."""
    comments, asked, refuses = {}, [], False

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length))["body"] if length else None
        self.asked.append(self.command)
        page = re.fullmatch(r"/repos/a/b/issues/7/comments\?per_page=100&page=(\d+)", self.path)
        one = re.fullmatch(r"/repos/a/b/issues/comments/(\d+)", self.path)
        status, result = 404, {}
        if self.refuses or self.headers.get("Authorization") != "Bearer " + TOKEN:
            status = 403
        elif self.command == "GET" and page:
            first = 100 * int(page[1]) - 100
            rows = sorted(self.comments.items())[first:first + 100]
            status, result = 200, [{"id": number, "body": text} for number, text in rows]
        elif self.command == "POST" and self.path == "/repos/a/b/issues/7/comments":
            status, result = 201, {"id": 1000}
            self.comments[1000] = body
        elif self.command == "PATCH" and one and int(one[1]) in self.comments:
            status, self.comments[int(one[1])] = 200, body
        data = json.dumps(result).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer

    def log_message(self, *_):
        pass


class Github:
    """The variables of a job, and a server for its comments."""

    def __enter__(self):
        Api.comments = {n: "a comment of others" for n in range(150)}
        Api.comments[0] = None
        Api.asked, Api.refuses = [], False
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        with open("event.json", "w", encoding="utf-8") as f:
            json.dump({"pull_request": {"number": 7}}, f)
        return {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "a/b", "GITHUB_WORKFLOW": "speed", "GITHUB_JOB": "all",
                "GITHUB_API_URL": "http://127.0.0.1:%d" % self.server.server_address[1],
                "GITHUB_EVENT_PATH": os.path.abspath("event.json"), "GITHUB_OUTPUT": os.path.abspath("outputs"),
                "GITHUB_STEP_SUMMARY": os.path.abspath("summary")}

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def slower():
    repository(0.02, 1.5)
    with Github() as env:
        done = job(*BUILD, *LARGE, "--command", "./app", "--token", TOKEN, status=3, **env)
        expect(os.path.join(os.getcwd(), "out", "compare.json") in done.stdout and "compare-1" not in done.stdout, done.stdout)
        expect(content("outputs").splitlines()[0] == "verdict=slower", content("outputs"))
        record = json.loads(content(content("outputs").split("json=")[1].strip()))
        expect(common.fact(record, "compare", "verdict") == "slower", record)
        expect('failures="1"' in content("out/junit.xml"), content("out/junit.xml"))
        summary = content("summary")
        expect("this commit is slower than its base" in summary and "| <code>./app</code> | " in summary, summary)
        expect(Api.asked == ["GET", "GET", "POST"] and summary in Api.comments[1000], f"{Api.asked} {Api.comments}")


def as_fast():
    repository(0.05, 0.05)
    with Github() as env:
        Api.comments[1000] = "<!-- deepclock: speed all -->\nan earlier table"
        # Two comparisons share the error; the command sees no token, and names cannot break the table.
        job(*BUILD, *SAME, "--command", "./app; :  | cat", "--command", "./app", "--token", TOKEN, **env)
        expect(re.match("verdict=(not-slower|undecided)\n", content("outputs")), content("outputs"))
        expect(len(json.loads(content("out/compare.json"))) == 2, "two records")
        expect("97.5 % interval" in content("summary") and "<code>./app; :  &#124; cat</code>" in content("summary"),
               content("summary"))
        expect(Api.asked == ["GET", "GET", "PATCH"] and content("summary") in Api.comments[1000], f"{Api.asked}")
        Api.refuses = True
        done = job(*BUILD, *SAME, "--command", "./app", "--token", TOKEN, "--options=--level 99%", **env)
        expect("99 % interval" in content("out/compare.md"), content("out/compare.md"))
        expect("::warning::deepclock: the comment could not be written: HTTP Error 403" in done.stderr, done.stderr)


def action():
    """Runs the steps of action.yml as a runner does."""
    try:
        import yaml
    except ImportError as e:
        raise common.Skipped("PyYAML is not installed (python3-yaml)") from e
    repository(0.02, 0.02)
    with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as f:
        described = yaml.safe_load(f)
    given = {"command": "./app", "build": BUILD[1], "min-change": SAME[1], "budget": SAME[3], "program": args.program}
    values = {name: given.get(name, row["default"]) for name, row in described["inputs"].items()}
    expect(not set(given) - set(values), "inputs")
    expect(described["runs"]["using"] == "composite" and all("uses" not in s for s in described["runs"]["steps"]), "no step is another's")
    step = described["runs"]["steps"][-1]
    env = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values.pop(m[1]), text) for name, text in step["env"].items()}
    expect(not values, f"the step does not get {list(values)}")
    expect(all("${{" not in s["run"] for s in described["runs"]["steps"]), "no value is in the text of a script")
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], capture_output=True,
                          text=True, check=False, env=environment(GITHUB_ACTION_PATH=ROOT, GITHUB_OUTPUT="outputs", **env))
    expect(done.returncode == 0, f"{done.returncode}: {done.stderr}")
    found = dict(line.split("=", 1) for line in content("outputs").splitlines())
    expect({f"${{{{ steps.{step['id']}.outputs.{name} }}}}" for name in found}
           == {row["value"] for row in described["outputs"].values()}, f"{found}")


def gitlab():
    """Runs the script of gitlab.yml with its variables, as a runner does."""
    try:
        import yaml
    except ImportError as e:
        raise common.Skipped("PyYAML is not installed (python3-yaml)") from e
    repository(0.02, 0.02)
    with open(os.path.join(ROOT, "ci", "gitlab.yml"), encoding="utf-8") as f:
        template = yaml.safe_load(f)[".deepclock"]
    env = {name: str(value).replace("$CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD~1") for name, value in template["variables"].items()}
    env.update(DEEPCLOCK_CI_PROGRAM=args.program, DEEPCLOCK_CI_BUILD=BUILD[1], DEEPCLOCK_CI_COMMAND="./app",
               DEEPCLOCK_CI_MIN_CHANGE=SAME[1], DEEPCLOCK_CI_BUDGET=SAME[3])
    done = subprocess.run(template["script"][0].replace("/opt/deepclock", ROOT), shell=True, capture_output=True, text=True,
                          check=False, env=environment(**env))
    expect(done.returncode in (0, *template["allow_failure"]["exit_codes"]), f"{done.returncode}: {done.stderr}")
    expect(os.path.exists(template["artifacts"]["reports"]["junit"]), "the report of tests")


def mistakes():
    repository(0, 0)
    for words, status, said in (
            ([], 2, "there is nothing to measure: give a command or a model"),
            (["--command", "./app", "--base", "no-such"], 2, "there is no commit 'no-such' here: fetch the whole history (fetch-depth 0)"),
            (["--command", "./app", "--build", "exit 5"], 1, "the build of base failed with exit status 5: exit 5"),
            (["--model", "m.onnx"], 2, "base has no file m.onnx"),
            (["--command", "./app", "--undecided", "maybe"], 2, "undecided is 'maybe', not pass or fail"),
            (["--command", "./app", "--min-change", "large"], 2, "deepclock refused the comparison, see above"),
            (["--command", "./no-such-app"], 1, None)):
        done = job(*words, status=status)
        expect(said is None or done.stderr.endswith(f"compare_commits: {said}\n"), done.stderr)
        expect("Traceback" not in done.stderr, done.stderr)
    # Git's reason, as that the directory belongs to another user.
    done = job("--command", "./app", status=2, GIT_DIR="/no/repository")
    expect(done.stderr.startswith("compare_commits: git cannot use this directory: fatal: "), done.stderr)


if __name__ == "__main__":
    common.run([("a slower commit: gate, table, comment", slower), ("the same commit twice: silent, comment updated", as_fast),
                ("the steps of action.yml", action), ("the script of gitlab.yml", gitlab), ("mistakes are one sentence", mistakes)], args.prefixes)
