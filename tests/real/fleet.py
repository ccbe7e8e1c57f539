#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history in PostgreSQL, against a server that this test starts: the cases of tests/cli/history/ give the same
answers as over SQLite, 50 writers lose nothing, what cannot be is refused in one sentence, and no
password is shown or stored. Prints TAP.

  fleet.py --program build/deepclock [CASE]...
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from common import arguments, expect, run
from postgres_server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(os.path.dirname(HERE), "cli")
# Cases of tests/cli/history/ that are of any database, and not of a file.
SAME = ["alarms", "commits", "compare", "crowd", "export", "first_writers", "guards", "hostile", "import", "list", "prune", "rm",
        "show", "trend", "trend_refused", "trend_scripts", "wait", "watched", "writers"]
PASSWORD = "s3cret%2Fpassword"  # as it is in an address

PROGRAM = ""
SERVER = None


def deepclock(*args, db=None, env=None, text=None):
    """Returns status, stdout and stderr."""
    done = subprocess.run([PROGRAM, *args, *(["--db", db] if db else [])], capture_output=True, text=True, input=text,
                          stdin=None if text is not None else subprocess.DEVNULL,
                          env={**os.environ, "HOME": os.getcwd(), **(env or {})})
    return done.returncode, done.stdout, done.stderr


def works(*args, **more):
    code, out, err = deepclock(*args, **more)
    expect(code == 0, f"{args}: {code}: {err}")
    return out


def refused(words, *args, **more):
    """The command fails, with one sentence that has these words."""
    code, out, err = deepclock(*args, **more)
    expect(code != 0 and out in ("", "0 added, 0 were already stored\n"), f"{args}: {code}: {out}")
    expect(err.startswith("deepclock: ") and err.count("\n") == 1, err)
    expect("s3cret" not in err, err)
    for word in words:
        expect(word in err, f"no '{word}' in: {err}")


def lines(*args):
    """Records as 'history export' writes them."""
    return subprocess.run([os.path.join(CLI, "lib/history-lines"), *(str(a) for a in args)], check=True, capture_output=True,
                          text=True).stdout


def count(name="fleet"):
    return int(SERVER.sql("SELECT count(*) FROM deepclock.records", name)[0])


def filled(n=3):
    """A database with n records; returns its address."""
    address = SERVER.fresh()
    works("history", "import", "-", db=address, text=lines(n))
    return address


def same_answers():
    """The cases of the command line, over a database that a service file names."""
    with open("services", "w", encoding="utf-8") as f:
        f.write(f"[fleet]\nhost={SERVER.directory}\nport={SERVER.port}\nuser=admin\ndbname=same\n")
    failed, used = [], 0
    for case in SAME:
        SERVER.fresh("same")
        done = subprocess.run([sys.executable, os.path.join(CLI, "run.py"), "--program", PROGRAM,
                               "--env", "DEEPCLOCK_DB=service=fleet", "--env", f"PGSERVICEFILE={os.getcwd()}/services",
                               "--named", "service=fleet=SCRATCH/.local/share/deepclock/history.db",
                               "--without", "history/trend_" if case == "trend" else "none", f"history/{case}"],
                              capture_output=True, text=True)
        if done.returncode:
            failed.append(done.stdout + done.stderr)
        used += SERVER.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'deepclock'", "same") == ["1"]
    expect(not failed, "\n".join(failed))
    expect(used >= len(SAME) - 2, f"{used} cases used the database")  # two have files of their own


def addresses():
    """All forms of an address name the same history."""
    where = {"PGHOST": SERVER.directory, "PGPORT": str(SERVER.port), "PGUSER": "admin"}
    want = works("history", "export", db=filled())
    for db, env in ((f"host={SERVER.directory} port={SERVER.port} user=admin dbname=fleet", {}),
                    ("postgres:///fleet", where), ("postgresql://", {**where, "PGDATABASE": "fleet"}),
                    ("dbname = fleet", where)):
        expect(works("history", "export", db=db, env=env) == want, db)
    expect(works("history", "export", env={**where, "DEEPCLOCK_DB": "postgres:///fleet"}) == want, "DEEPCLOCK_DB")
    # A file of such a name.
    works("history", "import", "-", db="./host=a", text=lines(2))
    expect(os.path.exists("host=a"), "the file")


def passwords():
    """A password of an address is in no output, record or row."""
    filled()
    SERVER.sql("CREATE ROLE alice LOGIN PASSWORD 's3cret/password'; GRANT USAGE ON SCHEMA deepclock TO alice;"
               "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA deepclock TO alice", "fleet")
    for db in (SERVER.address("alice", PASSWORD),
               f"host=127.0.0.1 port={SERVER.port} user=alice dbname=fleet password='s3cret/password'",
               f"postgresql://alice@127.0.0.1:{SERVER.port}/fleet?password={PASSWORD}"):
        code, out, err = deepclock("bench", "zoo:two_layer", "--engine", "null", "--save", "run.json", "--time", "10ms", db=db)
        expect(code == 0, err)
        with open("run.json", encoding="utf-8") as f:
            record = f.read()
        expect("alice" in record, "the command has the rest of the address")
        for text in (out, err, record, works("history", "list", "--limit", "0", "--format", "json", db=db),
                     works("history", "check", db=db).replace("sound", "")):
            expect("s3cret" not in text, text)
    expect(not any("s3cret" in row for row in SERVER.sql("SELECT convert_from(json, 'UTF8'), command FROM deepclock.texts "
                                                         "JOIN deepclock.records USING (seq)", "fleet")), "stored")


def refusals():
    """One sentence each, and nothing half written."""
    filled()
    SERVER.sql("CREATE ROLE reader LOGIN PASSWORD 's3cret'; GRANT USAGE ON SCHEMA deepclock TO reader;"
               "GRANT SELECT ON ALL TABLES IN SCHEMA deepclock TO reader; CREATE ROLE stranger LOGIN PASSWORD 's3cret';", "fleet")
    reader, free = SERVER.address("reader", "s3cret"), SERVER.port
    listing = ("history", "list")
    more = ("history", "import", "-")
    with open("none.json", "w", encoding="utf-8"):
        pass
    # A port on which nothing listens: that of this socket, which is bound only.
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
        refused(["Connection refused", str(free)], *listing, db=SERVER.address("reader", "s3cret", port=free))
        refused(["Connection refused"], "bench", "zoo:two_layer", db=SERVER.address("reader", "s3cret", port=free))
    refused(["refused the password"], *listing, db=SERVER.address("reader", "s3crets"))
    refused(["no password"], *listing, db=f"postgresql://reader@127.0.0.1:{SERVER.port}/fleet")
    refused(["createdb", '"none"'], *listing, db=SERVER.address("reader", "s3cret", "none"))
    refused(["%XX", "~/.pgpass"], *listing, db=SERVER.address("reader", "s3cret@1/x"))
    refused(["is no address"], *listing, db="postgresql://reader:s3cret@127.0.0.1:port/fleet")
    # A role that may only read reads.
    expect("zoo:a" in works(*listing, db=reader), "the reader")
    works("history", "trend", db=reader)
    refused(["role 'reader' may only read"], *more, db=reader, text=lines(5))
    refused(["role 'reader' may only read"], "bench", "zoo:two_layer", db=reader)
    refused(["role 'reader' may only read"], "history", "prune", "--keep", "1", db=reader)
    refused(["not granted", "permission denied"], *listing, db=SERVER.address("stranger", "s3cret"))
    expect(count() == 3, "nothing was added")
    # A newer layout.
    SERVER.sql("UPDATE deepclock.layout SET version = version + 1", "fleet")
    refused(["newer deepclock"], *listing, db=reader)
    refused(["newer deepclock"], *more, db=SERVER.address("reader", "s3cret"), text=lines(5))
    # No table yet.
    address = SERVER.fresh()
    refused(["there is no history yet"], *listing, db=address)
    refused(["may not create it", "'stranger'"], *listing, db=SERVER.address("stranger", "s3cret"))
    refused(["may not create it", "'stranger'"], *more, db=SERVER.address("stranger", "s3cret"), text=lines(5))
    refused(["may not create it"], "bench", "zoo:two_layer", db=SERVER.address("stranger", "s3cret"))
    expect(SERVER.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'deepclock'", "fleet") == ["0"], "created nothing")
    # A table of others in the schema: nothing of the layout stays.
    SERVER.sql("CREATE SCHEMA deepclock; CREATE TABLE deepclock.metrics (a INT)", "fleet")
    refused(["cannot lay out", "metrics"], *more, db=address, text=lines(5))
    expect(SERVER.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'deepclock'", "fleet") == ["1"], "all or nothing")


def no_libpq():
    os.mkdir("empty")
    with open("empty/libpq.so.5", "w", encoding="utf-8"):
        pass
    refused(["libpq5", "libpq.so.5"], "history", "list", db="postgres:///fleet", env={"LD_LIBRARY_PATH": "empty"})


def writers():
    """50 programs at once create the tables and add 20 records each of their own, and 30 that all have, each in another
    order, so that they meet."""
    address = SERVER.fresh()
    shared = lines(30, "prefix=s").splitlines(True)
    started = []
    for i in range(50):
        own = lines(20, f"prefix=w{i:02}_").splitlines(True)
        k = i * 7 % 30
        with open(f"lines{i}", "w", encoding="utf-8") as f:
            f.writelines(own[:10] + shared[k:] + shared[:k] + own[10:] if i % 2 else own + shared[k::-1] + shared[:k:-1])
        started.append(subprocess.Popen([PROGRAM, "history", "import", f"lines{i}", "--db", address, "--wait", "40s"],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    said = [p.communicate()[0] for p in started]
    failed = [s for p, s in zip(started, said) if p.returncode]
    expect(not failed, f"{len(failed)} of 50 failed: {failed[:3]}")
    expect(sum(int(s.split()[0]) for s in said) == 1030, "each record was added once")
    expect(count() == 1030, f"{count()} records")
    works("history", "check", db=address)
    orphans = SERVER.sql("SELECT count(*) FROM deepclock.records r WHERE (SELECT count(*) FROM deepclock.metrics m WHERE m.seq = "
                         "r.seq) <> 2 OR NOT EXISTS (SELECT 1 FROM deepclock.texts t WHERE t.seq = r.seq)", "fleet")
    expect(orphans == ["0"], "each is complete")


def restart():
    """The server restarts in the middle of an import, which waits for its lines; then it stays away."""
    address = SERVER.fresh()
    all_lines = lines(700).splitlines(True)

    def importer(wait):
        return subprocess.Popen([PROGRAM, "history", "import", "-", "--db", address, "--wait", wait], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)

    p = importer("60s")
    for part, mode in ((all_lines[:250], "fast"), (all_lines[250:500], "immediate")):
        p.stdin.writelines(part)
        p.stdin.flush()
        SERVER.control("restart", mode)
    out, err = p.communicate("".join(all_lines[500:]))
    expect(p.returncode == 0 and not err, f"first: {p.returncode} {out} {err}")
    expect(count() == 700, f"{count()} records")
    expect(sum(int(w) for w in out.split() if w.isdigit()) == 700, out)
    # Records that were committed when it goes for good stay, whole.
    address = SERVER.fresh()
    p = importer("200ms")
    p.stdin.writelines(all_lines[:250])
    p.stdin.flush()
    SERVER.control("stop", "immediate")
    try:
        out, err = p.communicate("".join(all_lines[250:]))
        expect(p.returncode != 0 and err.startswith("deepclock: ") and err.count("\n") == 1, f"second: {p.returncode} {out} {err}")
    finally:
        SERVER.control("start")
    expect(count() == int(out.split()[0]) and count() % 100 == 0, f"{count()} records, {out}")
    # A reader ends with a sentence, and a later one reads.
    works("history", "import", "-", db=address, text="".join(all_lines))
    with subprocess.Popen([PROGRAM, "history", "export", "--db", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as reader:
        reader.stdout.readline()
        SERVER.control("restart", "immediate")
        rest = reader.stdout.read()
        err = reader.stderr.read()
    expect(reader.returncode != 0 and err.startswith("deepclock: ") and err.count("\n") == 1, f"{reader.returncode}: {err}")
    expect(rest.count("\n") < 699, "it was cut")
    expect(works("history", "export", db=address).count("\n") == 700, "a later reader")


def machines():
    """Branch and host of an export come back, a file of SQLite is imported as it is, and records are selected by machine;
    both databases answer the same."""
    address = SERVER.fresh()
    records = []
    for i, text in enumerate(lines(12, "commits=4", "cpu=a processor 100%").splitlines()):
        record = json.loads(text)
        record["history"].update(host=f"node{i % 3}", branch="main" if i % 2 else "topic/x")
        records.append(json.dumps(record) + "\n")
    works("history", "import", "-", db="one.db", text="".join(records))
    expect(works("history", "import", "one.db", db=address) == "12 added, 0 were already stored\n", "a file of SQLite")
    expect(works("history", "import", "one.db", db=address) == "0 added, 12 were already stored\n", "again")
    export = works("history", "export", db="one.db")
    expect([json.loads(r)["history"] for r in export.splitlines()] == [json.loads(r)["history"] for r in records], "members")
    for words, n in ((["--host", "node1"], 4), (["--host", "node?"], 12), (["--branch", "main"], 6), (["--cpu", "*100%"], 12),
                     (["--cpu", "*processor_100%"], 0), (["--host", "n*2", "--branch", "topic/x"], 2)):
        answers = [works("history", "export", *words, db=db) for db in ("one.db", address)]
        expect(answers[0] == answers[1] and answers[0].count("\n") == n, f"{words}: {answers[0]}")
    # 3 commits of 4 records: the newest of each commit stays, and what is young.
    for db in ("one.db", address):
        prune = ("history", "prune", "--keep-per-commit", "1")
        expect(works(*prune, "--older-than", "2026-09-22", "--dry-run", db=db).startswith("1 record would"), "old ones only")
        expect(works(*prune, db=db).startswith("9 records removed"), "without another rule")
        expect(len(works("history", "export", db=db).splitlines()) == 3, "one of each commit")


def documented():
    """The steps of docs/reference/fleet.md, from an empty server to the query of a chart."""
    with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs/reference/fleet.md"), encoding="utf-8") as f:
        steps = f.read().split("\n## ")[1]
    blocks = [re.sub(r"^       ", "", b, flags=re.M).strip() for b in re.findall(r"\n\n((?:       .*\n?)+)", steps)]
    expect(len(blocks) == 7, f"{len(blocks)} steps")
    roles, tables, grants, adding, asking, chart, metrics = blocks
    SERVER.sql("DROP DATABASE IF EXISTS fleet WITH (FORCE)")
    for statement in roles.splitlines():
        SERVER.sql(statement)
    works("history", "import", "-", db="one.db", text=lines(12, "commits=6"))

    def run_line(line, *more):
        words = shlex.split(line.replace("@HOST", f"@127.0.0.1:{SERVER.port}").replace("~/.local/share/deepclock/history.db", "one.db")
                            .replace("model.onnx", "zoo:two_layer --engine null --time 10ms").replace("/var/lib/node_exporter/", ""))
        expect(words[0] == "deepclock", line)
        return works(*words[1:], *more, env={"PGPASSWORD": "..."})

    expect(run_line(tables).startswith("12 added"), "the file's records")
    SERVER.sql(grants, "fleet")
    run_line(adding)
    expect(SERVER.sql("SELECT count(*) FROM deepclock.records WHERE host <> '' AND subject = 'zoo:two_layer'", "fleet") == ["1"], "the host")
    reader = f"postgresql://fleet_reader@127.0.0.1:{SERVER.port}/fleet"
    SERVER.sql("UPDATE deepclock.records SET host = 'node1', branch = 'main', cpu = 'AMD EPYC 9654';"
               "UPDATE deepclock.metrics SET tag = 'latency/p99' WHERE tag = 'throughput/items' AND seq <= 12", "fleet")
    listing, trend, alarms, commits, prune = asking.splitlines()
    expect("zoo:a" in run_line(listing, "--db", reader), "listed")
    expect("latency/p99" in run_line(trend, "--db", reader), "trend")
    expect("no change in 2 series" in run_line(alarms.replace("--since 60d", ""), "--db", reader), "alarms")
    expect("no difference" in run_line(commits.replace("3f09c1a", "0000").replace("81bd20e", "0001"), "--db", reader), "commits")
    expect("kept" in run_line(prune, "--db", f"postgresql://fleet_owner@127.0.0.1:{SERVER.port}/fleet"), "pruned")
    refused(["not granted"], "history", "prune", "--keep", "1", env={"PGPASSWORD": "..."},
            db=f"postgresql://fleet_writer@127.0.0.1:{SERVER.port}/fleet")
    to_file, to_stdout = metrics.splitlines()
    run_line(to_file)
    with open("model.prom", encoding="utf-8") as f:
        expect(f.read().endswith("# EOF\n"), "a file of metrics")
    expect("deepclock_latency_median_seconds{" in run_line(to_stdout, "--db", reader), "metrics of the newest record")
    rows = SERVER.sql("SET ROLE fleet_reader;" + chart, "fleet")
    expect(rows and all(r.count("|") == 2 for r in rows), f"the chart: {rows}")


CASES = [(f.__name__, f) for f in (same_answers, addresses, passwords, refusals, no_libpq, writers, restart, machines,
                                   documented)]

if __name__ == "__main__":
    args = arguments(__doc__)
    PROGRAM = args.program
    top = tempfile.mkdtemp(prefix="deepclock-fleet-")

    def need():
        global SERVER
        if not SERVER:
            SERVER = Server(top)

    try:
        run(CASES, args.prefixes, need)
    finally:
        if SERVER:
            SERVER.close()
        shutil.rmtree(top, ignore_errors=True)
