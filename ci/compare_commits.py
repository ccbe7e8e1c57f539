#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures this commit and its base in turns, on one machine, in one job, and fails only if this commit is shown to be
slower.

  compare_commits.py --base origin/main --command './train --epochs 1' --build 'make -j2'
  compare_commits.py --base origin/main --model model.onnx --min-change 5%

Both commits are checked out into directories of one parent, whose names have the same length, since the length of a path moves a
program's stack. The working tree is not changed. Each command and model is one comparison of `deepclock compare`;
several share the error of 5 % (Bonferroni). The base is the last common commit of this one and --base, so what --base gained
since does not count.

In --out are compare.json, the record (a list, if there are several comparisons), compare.md, and junit.xml. Every option has
a variable of the environment, DEEPCLOCK_CI_NAME, which ../action.yml and gitlab.yml set. In a job of GitHub the table
is added to the summary of the job, verdict and json are its outputs, and with a token the table is a comment of the pull request,
one for each job, which the next run updates. The token is in the environment of no program that is started here.

Exit status: 0 not slower, 3 slower, 4 undecided (0 with --undecided pass), 1 failed, 2 wrong usage.
"""

import argparse
import contextlib
import html
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

LEVEL = 0.95
VARIABLES = "DEEPCLOCK_CI_"
# (option, default, help)
OPTIONS = (
    ("base", "", "commit, branch or tag to compare with; default: the base of the pull request, else the commit before"),
    ("build", "", "shell command that builds a checkout; none: nothing is built"),
    ("command", "", "shell command that is measured, in each checkout; one a line"),
    ("model", "", "model file that is measured, as a path from the root; one a line"),
    ("min-change", "3%", "smallest slowdown that matters"),
    ("budget", "2m", "time of each comparison at most"),
    ("options", "", "more options of 'deepclock compare', as --threads 1"),
    ("undecided", "pass", "what an undecided comparison does: pass or fail"),
    ("program", "deepclock", "the program deepclock"),
    ("out", ".", "directory of the results"),
    ("token", "", "GitHub's token that may write comments; none: no comment"),
)
# From the worst to the best: verdict, exit status, sentence.
VERDICTS = (
    ("failed", 1, "the comparison failed"),
    ("slower", 3, "this commit is slower than its base"),
    ("undecided", 4, "whether this commit is slower than its base is not decided"),
    ("not-slower", 0, "this commit is not slower than its base"),
)
STATUS = {verdict: status for verdict, status, _ in VERDICTS}
COMMENT_BYTES = 60000  # GitHub's limit is 65,536 characters


class Failure(Exception):
    """A sentence, and the exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def settings(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given = {}
    for name, default, text in OPTIONS:
        variable = VARIABLES + name.upper().replace("-", "_")
        given[name.replace("-", "_")] = os.environ.pop(variable, "") or default
        parser.add_argument("--" + name, help=f"{text} ({variable})".replace("%", "%%"),
                            action="append" if name in ("command", "model") else "store")
    args = parser.parse_args(argv)
    for name, value in given.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    for name in ("command", "model"):
        value = getattr(args, name)
        lines = value.splitlines() if isinstance(value, str) else value
        setattr(args, name, [line.strip() for line in lines if line.strip()])
    if not args.command and not args.model:
        raise Failure("there is nothing to measure: give a command or a model", 2)
    if args.undecided not in ("pass", "fail"):
        raise Failure(f"undecided is '{args.undecided}', not pass or fail", 2)
    args.out = os.path.abspath(args.out)
    if "/" in args.program:  # else it is found on the PATH
        args.program = os.path.abspath(args.program)
    return args


# --- the two commits

def git_run(*words, where=None):
    """Returns (what git prints, None), or (None, why it failed)."""
    try:
        done = subprocess.run(["git", *(["-C", where] if where else []), *words], capture_output=True, text=True,
                              errors="replace", check=False)
    except OSError as e:
        raise Failure(f"git does not start: {e.strerror}") from e
    if done.returncode == 0:
        return done.stdout.strip(), None
    lines = done.stderr.strip().splitlines()
    return None, next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1] if lines else "no message")


def git(*words, where=None):
    """Returns what git prints; None if it fails."""
    return git_run(*words, where=where)[0]


def base_of(name):
    """Returns the commit to compare with."""
    if not name:
        name = "origin/" + os.environ["GITHUB_BASE_REF"] if os.environ.get("GITHUB_BASE_REF") else "HEAD~1"
    found, why = git_run("rev-parse", "--git-dir")
    if found is None:  # in a container it may belong to another user
        raise Failure(f"git cannot use this directory: {why}", 2)
    if git("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}") is None:
        raise Failure(f"there is no commit '{name}' here: fetch the whole history (fetch-depth 0)", 2)
    common = git("merge-base", name, "HEAD")
    if common is None:
        raise Failure(f"'{name}' and this commit have no common commit here: fetch the whole history (fetch-depth 0)", 2)
    return common


@contextlib.contextmanager
def checkouts(base):
    """Yields a directory with the checkouts `base` and `head`."""
    top = git("rev-parse", "--show-toplevel")
    with tempfile.TemporaryDirectory(prefix="deepclock-ci-") as where:
        try:
            for name, commit in (("base", base), ("head", "HEAD")):
                to = os.path.join(where, name)
                made, why = git_run("worktree", "add", "--quiet", "--detach", to, commit, where=top)
                if made is None:
                    raise Failure(f"git cannot check out {commit}: {why}")
                if os.path.exists(os.path.join(to, ".gitmodules")):
                    made, why = git_run("submodule", "update", "--init", "--recursive", where=to)
                    if made is None:
                        raise Failure(f"git cannot fetch the submodules of {commit}: {why}")
            yield where
        finally:
            for name in ("base", "head"):
                git("worktree", "remove", "--force", "--force", os.path.join(where, name), where=top)


def build(command, where):
    for name in ("base", "head"):
        print(f"building {name}: {command}", file=sys.stderr, flush=True)
        done = subprocess.run(["sh", "-e", "-c", command], cwd=os.path.join(where, name), stdout=sys.stderr, check=False)
        if done.returncode:
            raise Failure(f"the build of {name} failed with exit status {done.returncode}: {command}")


# --- measuring

def subjects(args, where):
    """Returns [(name, base, head)], the subjects of each comparison."""
    found = []
    for model in args.model:
        for name in ("base", "head"):
            if not os.path.exists(os.path.join(where, name, model)):
                raise Failure(f"{name} has no file {model}", 2)
        found.append((model, f"base/{model}", f"head/{model}"))
    for command in args.command:
        found.append((command, *(f"cmd:env -C {name} sh -c {shlex.quote(command)}" for name in ("base", "head"))))
    return found


def compared(args, subject, number, level, where):
    """Measures one comparison, and returns (verdict, record, its file)."""
    file = os.path.join(where, f"compare-{number}.json")
    words = [args.program, "compare", "--margin", args.min_change, "--max-time", args.budget]
    words += [] if level == LEVEL else ["--level", f"{level:.6g}"]
    try:
        done = subprocess.run([*words, *shlex.split(args.options), "--no-history", "--save", file, *subject[1:]],
                              cwd=where, check=False, stdout=subprocess.PIPE)
    except OSError as e:
        raise Failure(f"{args.program} does not start: {e.strerror}", 2) from e
    # The text names the file, which is deleted, for `deepclock report`.
    kept = shlex.quote(os.path.join(args.out, "compare.json"))
    sys.stdout.buffer.write(done.stdout.replace(os.fsencode(file), os.fsencode(kept)))
    sys.stdout.flush()
    if done.returncode == 2:
        raise Failure("deepclock refused the comparison, see above", 2)
    if not os.path.exists(file):
        raise Failure(f"deepclock failed with exit status {done.returncode}, see above")
    with open(file, encoding="utf-8") as f:
        record = json.load(f)
    return next((v for v, status, _ in VERDICTS if status == done.returncode), "failed"), record, file


def report(args, files, form, where):
    done = subprocess.run([args.program, "report", *files, "--format", form], cwd=where, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Failure(f"deepclock cannot write {form}: {done.stderr.strip()}")
    return done.stdout


# --- the table

def time_text(cell):
    ns = cell.get("value") if isinstance(cell, dict) else cell
    if ns is None:
        return "-"
    unit, factor = next(((u, f) for u, f in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= f), ("ns", 1))
    return f"{ns / factor:.4g} {unit}"


def change_text(metric):
    if "value" not in metric:
        return "-"
    if "lo" not in metric:
        return f"{100 * metric['value'] - 100:+.3g} %"
    return "{:+.3g} % ({:+.3g} to {:+.3g})".format(*(100 * metric[key] - 100 for key in ("value", "lo", "hi")))


def code(text):
    return "<code>" + html.escape(text).replace("|", "&#124;") + "</code>"


def row(name, verdict, record):
    table = next((t for t in record.get("tables", []) if t["name"] == "compare/alternatives"), None)
    times = ["-", "-"]
    if table:
        column = next((i for i, c in enumerate(table["columns"]) if c["key"] == "time"), None)
        if column is not None:  # another batch is compared by items per second
            # With --aa the baseline compared with itself is between them.
            times = [time_text(table["rows"][k][column]) for k in (0, -1)]
    ratio = next((m for m in record.get("metrics", []) if m["tag"] == "compare/ratio"), {})
    return f"| {code(name)} | {' | '.join(times)} | {change_text(ratio)} | {verdict} |\n"


def markdown(args, verdict, base, results, details):
    head = git("rev-parse", "--short", "HEAD")
    sentence = next(text for v, _, text in VERDICTS if v == verdict)
    # That of --options, if it has one.
    found = [f["value"] for _, _, r in results for f in r.get("facts", []) if (f["section"], f["key"]) == ("method", "level")]
    level = 100 * (found[0] if found else 1 - (1 - LEVEL) / len(results))
    return (f"**deepclock: {sentence}** ({base[:len(head)]} to {head}, changes up to {args.min_change} do not matter)\n\n"
            f"| measured | base | this commit | change ({level:.4g} % interval) | verdict |\n|:--|--:|--:|--:|:--|\n"
            + "".join(row(name, v, record) for name, v, record in results)
            + f"\n<details><summary>the comparisons</summary>\n\n{details}\n</details>\n")


# --- GitHub

def warning(text):
    print(f"::warning::deepclock: {text}" if os.environ.get("GITHUB_ACTIONS") else f"warning: {text}", file=sys.stderr)


def append(variable, text):
    """Adds a text to one of the files that GitHub names in the environment."""
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8") as f:
            f.write(text)


def ask(token, method, path, body=None):
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path, method=method,
        data=None if body is None else json.dumps({"body": body}).encode(),
        headers={"Authorization": "Bearer " + token, "Accept": "application/vnd.github+json",
                 "Content-Type": "application/json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "deepclock"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def pull_request():
    """Returns the number of the pull request of the job's event, or None."""
    try:
        with open(os.environ.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as f:
            return json.load(f).get("pull_request", {}).get("number")
    except (OSError, ValueError):
        return None


def earlier_comment(token, path, mark):
    """Returns the number of the comment that an earlier run of this job made, or None."""
    page = 1
    while True:
        comments = ask(token, "GET", f"{path}/comments?per_page=100&page={page}")
        for comment in comments:
            if (comment.get("body") or "").startswith(mark):
                return comment["id"]
        if len(comments) < 100:
            return None
        page += 1


def comment_put(token, text):
    """Makes or updates the comment of this job. A failure is a warning: the verdict does not depend on it."""
    number, repository = pull_request(), os.environ.get("GITHUB_REPOSITORY", "")
    if number is None:
        warning("there is no comment, because the job does not belong to a pull request")
        return
    job = "{} {}".format(os.environ.get("GITHUB_WORKFLOW", ""), os.environ.get("GITHUB_JOB", "")).replace("--", "-")
    mark = f"<!-- deepclock: {job} -->"
    body = f"{mark}\n{text}"
    if len(body) > COMMENT_BYTES:
        body = body[:body.index("<details>")]
    try:
        path = f"/repos/{repository}/issues"
        earlier = earlier_comment(token, f"{path}/{number}", mark)
        if earlier is None:
            ask(token, "POST", f"{path}/{number}/comments", body)
        else:
            ask(token, "PATCH", f"{path}/comments/{earlier}", body)
    except (OSError, ValueError, KeyError, TypeError) as e:
        warning(f"the comment could not be written: {e}")


# --- all of it

def measure(args):
    """Returns the verdict, and writes the results."""
    base = base_of(args.base)
    if base == git("rev-parse", "HEAD"):
        warning("the base is this commit, which is compared with itself: give another base")
    with checkouts(base) as where:
        if args.build:
            build(args.build, where)
        todo = subjects(args, where)
        level = 1 - (1 - LEVEL) / len(todo)
        results, files = [], []
        for number, subject in enumerate(todo, 1):
            verdict, record, file = compared(args, subject, number, level, where)
            results.append((subject[0], verdict, record))
            files.append(file)
        verdict = next(v for v, _, _ in VERDICTS if v in [r[1] for r in results])
        details = report(args, files, "markdown", where)
        texts = {"compare.json": report(args, files, "json", where), "junit.xml": report(args, files, "junit", where),
                 "compare.md": markdown(args, verdict, base, results, details)}
    os.makedirs(args.out, exist_ok=True)
    for name, text in texts.items():
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as f:
            f.write(text)
    append("GITHUB_STEP_SUMMARY", texts["compare.md"])
    append("GITHUB_OUTPUT", f"verdict={verdict}\njson={os.path.join(args.out, 'compare.json')}\n")
    if args.token:
        comment_put(args.token, texts["compare.md"])
    return verdict


def terminated(_number, _frame):
    raise Failure("interrupted", 130)


def main(argv):
    signal.signal(signal.SIGTERM, terminated)
    args = None
    try:
        args = settings(argv)
        verdict = measure(args)
    except (Failure, KeyboardInterrupt, OSError) as e:  # OSError: the results cannot be written
        if args:
            append("GITHUB_OUTPUT", "verdict=failed\n")
        print(f"{'::error::' if os.environ.get('GITHUB_ACTIONS') else ''}compare_commits: {str(e) or 'interrupted'}",
              file=sys.stderr)
        return getattr(e, "status", 130 if isinstance(e, KeyboardInterrupt) else 1)
    sentence = next(text for v, _, text in VERDICTS if v == verdict)
    print(f"{sentence}: {args.out}/compare.md")
    if verdict == "undecided" and args.undecided == "pass":
        warning(sentence)
        return 0
    return STATUS[verdict]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
