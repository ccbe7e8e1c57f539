# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for a test: its files in a temporary directory, on a free port of loopback and a Unix socket there,
administered by the role "admin" without a password. Roles with a password need it on loopback."""

import glob
import os
import pwd
import shutil
import socket
import subprocess

from common import Skipped

FOUND = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))


class Server:
    def __init__(self, directory):
        if not FOUND:
            raise Skipped("no PostgreSQL server; 'make test-all' installs the package postgresql")
        self.bin = os.path.dirname(FOUND[-1])
        self.directory = os.path.join(directory, "pg")
        self.data = os.path.join(self.directory, "data")
        os.mkdir(self.directory)
        # The server refuses to run as root.
        self.user = next((u for u in ("postgres", "nobody") if os.getuid() == 0 and u in (p.pw_name for p in pwd.getpwall())), None)
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(self.directory, entry.pw_uid, entry.pw_gid)
            os.chmod(directory, 0o755)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.tool("initdb", "-D", self.data, "-U", "admin", "--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8",
                  "--locale=C", "--no-sync")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as f:
            f.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = '{self.directory}'\n"
                    "fsync = off\nmax_connections = 120\n")
        self.control("start")

    def tool(self, name, *args):
        words = [os.path.join(self.bin, name), *args]
        if self.user:
            words = ["setpriv", f"--reuid={self.user}", "--regid=" + str(pwd.getpwnam(self.user).pw_gid), "--clear-groups", *words]
        subprocess.run(words, check=True, cwd=self.directory, env={**os.environ, "HOME": self.directory, "LC_ALL": "C"},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def control(self, action, mode="fast"):
        log = [] if action == "stop" else ["-l", os.path.join(self.directory, "log")]
        self.tool("pg_ctl", "-D", self.data, "-w", "-t", "120", "-m", mode, *log, action)

    def sql(self, text, database="postgres"):
        """Runs statements as admin, and returns the rows as lines with | between columns."""
        words = ["psql", "-h", self.directory, "-p", str(self.port), "-U", "admin", "-qAtX", "-v", "ON_ERROR_STOP=1", database]
        return subprocess.run(words, input=text, check=True, capture_output=True, text=True).stdout.splitlines()

    def fresh(self, name="fleet"):
        """Makes an empty database, and returns its address as admin."""
        self.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE);\nCREATE DATABASE {name};")
        return f"postgresql://admin@/{name}?host={self.directory}&port={self.port}"

    def address(self, role, password, name="fleet", port=None):
        return f"postgresql://{role}:{password}@127.0.0.1:{port or self.port}/{name}"

    def close(self):
        try:
            self.control("stop", "immediate")
        except subprocess.CalledProcessError:
            pass  # it was stopped already
        shutil.rmtree(self.directory, ignore_errors=True)
