"""What the tests of a whole federation share: a folder, programs that end with the test, an authority."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TINY = SOURCE / "configs" / "tiny.toml"


class Program:
    """A program that runs beside the test; its output goes to a file of the folder. `group`: what it
    starts ends with it."""

    def __init__(self, words, log, env=None, stdin=None, group=False):
        self.log, self.group = pathlib.Path(log), group
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(words, stdout=out, stderr=out, stdin=stdin, env=env,
                                            start_new_session=group)
        self.pid = self.process.pid
        self.most = 0

    def alive(self):
        return self.process.poll() is None

    def wait(self, seconds):
        """The exit code, negative for a signal; None when it still runs after so long."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self):
        if self.alive() and self.group:
            os.killpg(self.pid, signal.SIGKILL)
        elif self.alive():
            self.process.kill()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def after(self, text, seconds=60):
        """The rest of the first line that holds `text`; waits for it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(re.escape(text) + "(.*)\n", self.text())
            if found:
                return found.group(1)
            if not self.alive():
                break
            time.sleep(0.05)
        raise RuntimeError(f"no \"{text}\" in {self.log.name}:\n{self.text()}")

    def status(self, name):
        """A size of /proc/PID/status in MB; 0 when it is gone."""
        try:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            return int(re.search(name + r":\s+(\d+)", status).group(1)) / 1024
        except (OSError, AttributeError):
            return 0

    def memory(self):
        """The most memory it ever had, in MB; 0 when it is gone."""
        peak = self.status("VmHWM")
        return max(self.most, peak) if peak else 0

    def forget_peak(self):
        """What follows is measured against now, not against the peak of before: `grown` says how much more it took."""
        self.most = self.memory()
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        self.start = self.status("VmRSS")

    def grown(self):
        return self.status("VmHWM") - self.start


class Folder:
    """A temporary folder and the programs that were started in it; both go when the test ends."""

    def __init__(self, kindred, name):
        self.kindred = str(pathlib.Path(kindred).resolve())
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"kindred-{name}-"))
        self.programs = []
        self.env = dict(os.environ, XDG_CACHE_HOME=str(self.path / "cache"))
        self.env.pop("GRPC_VERBOSITY", None)  # programs log as they do

    def __enter__(self):
        # A test that is told to stop cleans up, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            program.end()
        if os.environ.get("KEEP"):
            print("kept:", self.path)
        else:
            shutil.rmtree(self.path, ignore_errors=True)

    def start(self, log, *words, before=(), stdin=None):
        """`kindred WORDS` beside the test; `before`: words in front, as of `ip netns exec`."""
        program = Program([*before, self.kindred, *map(str, words)], self.path / log, self.env, stdin)
        self.programs.append(program)
        return program

    def run(self, *words, seconds=120):
        """`kindred WORDS`, which must succeed. What it prints."""
        done = subprocess.run([self.kindred, *map(str, words)], capture_output=True, text=True,
                              timeout=seconds, env=self.env)
        if done.returncode != 0:
            raise RuntimeError(f"kindred {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def issue(self, name, address, pki="pki"):
        kit = self.path / f"kit-{name}"
        self.run("pki", "issue", name, "--pki", self.path / pki, "--server", address, "--out", kit)
        return kit

    def summary(self, run):
        return json.loads((self.path / run / "summary.json").read_text())

    def audit(self, run="served"):
        path = self.path / run / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sets(**values):
    """--set words; server__poll=2 is server.poll=2."""
    return [word for key, value in values.items()
            for word in ("--set", f"{key.replace('__', '.')}={value}")]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_until(what, condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise RuntimeError(f"waited {seconds} s for {what}")


def can_serve(kindred):
    done = subprocess.run([kindred, "serve", "--help"], capture_output=True, text=True)
    return done.returncode == 0 and "--pki" in done.stdout
