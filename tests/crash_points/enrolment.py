"""Crash points of `kindred pki`: an authority, kits, enrolments."""
import json
import shutil
import stat
import subprocess

from order import missing_syncs, unneeded_syncs
from syscalls import RENAMES, WRITES, Fault, calls_below
from trials import Place, require, require_hit, require_refusal, run

# What is done one after the other, each to what those before it left.
STEPS = {
    "init": ("pki", "init", "--out", "{}/pki"),
    "issue": ("pki", "issue", "north", "--pki", "{}/pki", "--server", "a:1", "--out", "{}/kit"),
    "renew": ("pki", "issue", "north", "--pki", "{}/pki", "--server", "a:1", "--renew", "--out",
              "{}/kit-2"),
    "revoke": ("pki", "revoke", "north", "--pki", "{}/pki"),
}


def serial_of(kit):
    words = ["openssl", "x509", "-noout", "-serial", "-in", kit / "client.crt"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.strip().rpartition("=")[2].lower()


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if path.is_file() and ".tmp-" not in str(path)}


def enrolled_in(at):
    return next((at / "pki").rglob("enrolled.json"))


class Enrolments:
    def __init__(self, folder):
        self.folder = folder
        self.before, self.calls, self.states = {}, {}, {}
        at = folder.path / "reference"
        at.mkdir()
        for step in STEPS:
            self.before[step] = folder.path / f"before-{step}"
            shutil.copytree(at, self.before[step])
            outcome = self.step(step, at, log=folder.path / "trace")
            require(outcome.code == 0, step, outcome.errors)
            self.calls[step] = calls_below(folder.path / "trace", at)
            self.states[step] = self.listed(at)
        self.files = {name: files_in(at / name) for name in ("pki", "kit", "kit-2")}
        self.place = Place(folder, "enrolments", [], self.check)
        self.step_of = {id(call): step for step in STEPS for call in self.calls[step]}

    def step(self, step, at, more=(), **traced):
        return run(self.folder, [*(word.format(at) for word in STEPS[step]), *more], **traced)

    def listed(self, at):
        """(state, how many serial numbers) of everyone, as the program reads them."""
        outcome = run(self.folder, ["pki", "list", "--json", "--pki", at / "pki"])
        require(outcome.code == 0, "pki list", outcome.errors)
        enrolled = json.loads(enrolled_in(at).read_text())["clients"]
        return [(each["name"], each["state"], len(there["former"])) for each, there in
                zip(json.loads(outcome.out)["clients"], enrolled, strict=True)]

    def check_order(self):
        wrong = []
        for step, calls in self.calls.items():
            wrong += [f"{step}: {line}" for line in missing_syncs(calls)]
            wrong += [f"{step}: {call} could be left out" for call in unneeded_syncs(calls)]
        at = self.folder.path / "unsynced"
        at.mkdir()
        self.step("init", at, log=at / "trace", fault=Fault("fsync", 1, "SKIP", onwards=True))
        if not missing_syncs(calls_below(at / "trace", at)):
            wrong.append("init without fsync passes")
        return wrong

    def trials(self, whole):
        """All calls; else those that change something, and the folders that are synced."""
        calls = [call for calls in self.calls.values() for call in calls
                 if whole or call.kind not in ("open", "close")]
        trials = [(call, what) for call in calls for what in ("KILL", "EIO")]
        return trials + [(call, what) for call in calls for what in ("ENOSPC", "EROFS")
                         if call.name in RENAMES or whole and (call.makes or call.name in WRITES)]

    def check(self, call, fault, at):
        step = self.step_of[id(call)]
        shutil.copytree(self.before[step], at / "w")
        at = at / "w"
        outcome = self.step(step, at, log=at / "trace", fault=fault)
        calls = calls_below(at / "trace", at)
        (at / "trace").unlink()
        require_hit(fault, call, calls)
        renamed = {each.paths[1] for each in calls if each.name in RENAMES and each.done}
        if any(path.endswith("/enrolled.json") for path in renamed) and step != "init":
            renamed.add("the list")
        if fault.what == "KILL":
            require(outcome.code == -9, "not killed", outcome)
        elif outcome.code != 0:
            require_refusal(outcome)
            hidden = [path.name for path in at.glob("**/.tmp-*")]
            require(not hidden or call.name in ("unlink", "unlinkat", "rmdir"), "left", hidden)
        self.check_whole(step, at, renamed)
        self.check_next(step, at, renamed)

    def is_whole(self, at, name):
        """Whether the folder is there; it must then have all files, and keys of its owner alone."""
        folder = at / name
        if not folder.exists():
            return False
        require(files_in(folder) == self.files[name], f"{name} is not whole", files_in(folder))
        for key in folder.rglob("*.key"):
            require(stat.S_IMODE(key.stat().st_mode) == 0o600, f"{key.name} may be read by others")
        return True

    def check_whole(self, step, at, renamed):
        """The list is the old one or the new one, by what got its name; a kit's client is on it."""
        there = self.is_whole(at, "pki")
        require(there == (step != "init" or "pki" in renamed), "the authority is gone")
        if there:
            names = list(STEPS)
            done = step == "init" or "the list" in renamed
            wanted = self.states[step if done else names[names.index(step) - 1]]
            require(self.listed(at) == wanted, "the list", self.listed(at))
        for kit in ("kit", "kit-2"):
            if self.is_whole(at, kit):
                require(serial_of(at / kit) in enrolled_in(at).read_text(), f"{kit} is unknown")

    def check_next(self, step, at, renamed):
        """The same command again, as its message says, ends with a state that is whole."""
        if (at / {"init": "pki", "issue": "kit", "renew": "kit-2"}.get(step, "none")).exists():
            return  # all was done but to say so
        enrolled = step in ("issue", "renew") and "the list" in renamed
        again = self.step(step, at, more=["--renew"] if enrolled and step == "issue" else [])
        require(again.code == 0, "the next start", again.errors)
        if enrolled:
            require([each[:2] for each in self.listed(at)] == [("north", "valid")], "the list then")
        else:
            self.check_whole(step, at, renamed | {"pki", "the list"})
