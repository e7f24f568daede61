"""What a program asks of the file system, call by call, and faults that strace puts into one call.

strace counts calls by thread and name, so a point is the N-th call of that name in its thread. A
signal is delivered before the call has its effect; an error is returned instead of it. So a kill at
every call leaves every state in which a kill can leave the files: after a call is before the next.
"""
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass, field

# Whatever changes what a reader finds, or makes it last. "?": not every machine has it.
CHANGES = ["?open", "openat", "?creat", "write", "pwrite64", "writev", "pwritev", "?ftruncate",
           "?truncate", "fsync", "fdatasync", "close", "?rename", "renameat", "renameat2", "?link",
           "linkat", "?unlink", "unlinkat", "?rmdir", "?mkdir", "mkdirat", "?chmod", "fchmod",
           "fchmodat", "fallocate", "copy_file_range", "sendfile"]
WRITES = {"write", "pwrite64", "writev", "pwritev"}
RENAMES = {"rename", "renameat", "renameat2"}
BY_DESCRIPTOR = WRITES | {"fsync", "fdatasync", "close", "ftruncate", "fchmod", "fallocate"}


@dataclass
class Call:
    thread: str
    name: str
    count: int  # the how manieth of its name in its thread, from 1
    arguments: str
    result: str = "?"  # "?": it did not return
    paths: list = field(default_factory=list)
    nth: int = 0  # the how manieth of its name at its place, from 1

    @property
    def done(self):
        return self.result[:1].isdigit() and "INJECTED" not in self.result

    @property
    def makes(self):
        """Whether it opens a file in order to write it."""
        return self.name == "openat" and ("O_CREAT" in self.arguments or "O_WR" in self.arguments)

    @property
    def kind(self):
        return "create" if self.makes else "open" if self.name == "openat" else self.name

    @property
    def place(self):
        """Its paths without what every run calls in its own way."""
        return " ".join(re.sub(r"(^|/)\.tmp-[^/]*", r"\1.tmp", re.sub(r"[0-9a-f]{32}", "RUN", path))
                        for path in self.paths)

    def __str__(self):
        return f"{self.kind} {self.place}, no. {self.nth}"


@dataclass(frozen=True)
class Fault:
    """What happens at the `count`-th call of this name: KILL, the name of an error, or SKIP: it
    does nothing and says that it did."""
    name: str
    count: int
    what: str
    only: tuple = ()  # calls that concern these paths are counted, and no others
    onwards: bool = False  # at all later ones, too

    def words(self):
        action = {"KILL": "signal=KILL", "SKIP": "retval=0"}.get(self.what, f"error={self.what}")
        then = "+" if self.onwards else ""
        words = ["-e", f"inject={self.name}:{action}:when={self.count}{then}"]
        return words + [word for path in self.only for word in ("-P", str(path))]


def tracing(log, fault=None, names=()):
    """The words that go in front of a program's to have its calls in the file `log`."""
    words = ["strace", "-f", "-y", "-s", "0", "-o", str(log), "-e",
             "trace=" + ",".join([*CHANGES, *names]), *(fault.words() if fault else [])]
    if fault and fault.what == "KILL":
        return words
    return [*words, "--seccomp-bpf"]  # faster, but strace 6.1 then delivers no signals


def why_not_traced():
    """Why programs cannot be traced here; None when they can."""
    try:
        done = subprocess.run([*tracing(os.devnull), "true"], capture_output=True, text=True)
    except FileNotFoundError:
        return "strace is not installed"
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def read_trace(log):
    """All calls of a trace, in the order in which they began."""
    calls, counts, under_way = [], {}, {}
    for line in pathlib.Path(log).read_text(errors="replace").splitlines():
        begun = re.match(r"(\d+) +(\w+)\((.*)$", line)
        goes_on = re.match(r"(\d+) +<\.\.\. (\w+) resumed>(.*)$", line)
        if begun:
            thread, name, rest = begun.groups()
            counts[thread, name] = counts.get((thread, name), 0) + 1
            call = Call(thread, name, counts[thread, name], rest)
            calls.append(call)
            if rest.endswith("<unfinished ...>"):
                under_way[thread] = call
                continue
        elif goes_on and goes_on.group(1) in under_way:
            call = under_way.pop(goes_on.group(1))
            call.arguments = call.arguments.replace(" <unfinished ...>", "") + goes_on.group(3)
        else:
            continue
        if " = " in call.arguments:
            call.arguments, _, call.result = call.arguments.rpartition(" = ")
    for call in calls:
        at_descriptor = re.match(r"\d+<([^>]*)>", call.arguments)
        if call.name not in BY_DESCRIPTOR:
            call.paths = re.findall(r'"((?:[^"\\]|\\.)*)"', call.arguments)
        elif at_descriptor:
            call.paths = [at_descriptor.group(1)]
    return calls


def calls_below(log, root, names=()):
    """The calls that concern this folder and what is in it, with paths as seen from it; and those
    of these names."""
    found, places = [], {}
    for call in read_trace(log):
        if not call.name in names and not any(
                path == str(root) or path.startswith(f"{root}/") for path in call.paths):
            continue
        call.paths = [os.path.relpath(path, root) for path in call.paths]
        key = call.kind, call.place
        call.nth = places[key] = places.get(key, 0) + 1
        found.append(call)
    return found


def hit_by(fault, calls):
    """The calls that the fault came to."""
    if fault.what != "KILL":
        return [call for call in calls if "INJECTED" in call.result]
    return [call for call in calls if (call.name, call.count) == (fault.name, fault.count)
            and call.result == "?"]
