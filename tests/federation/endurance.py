#!/usr/bin/python3
"""A federation that is disturbed for an hour: does it leak, get stuck or lose anything?

    endurance.py KINDRED [--minutes 60] [--seed 0] [--rounds N]

Eight `kindred join` train a small model at one `kindred serve`. By a plan drawn from the seed, and printed, clients
stop, are killed (-9), revoked and renewed, and come back; others join later and go for good; the coordinator is killed
or stopped and goes on with --resume; and who means no good floods it (disturbances.py). Three clients have links of
400 ms each way with 2 % loss (forwarder.py), for which each round waits some seconds. When the plan is over their links
are good, and the remaining rounds run undisturbed. Then all of this must hold, or the exit code is 1:

- every round was committed once, and none took longer than its deadlines, and what the disturbances cost, allow
- the coordinator's last process, which ran for more than half of the time, did not grow; its descriptors went back
- clients ended as they were told to, none by itself; no honest update was refused for what it held
- all models at the end have one digest; checkpoints open; the audit log has whole lines, and an `accept` for each
  update that counted
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is left in the source folder

from disturbances import Floods, make_plan
from federation import IMAGES
from measures import Coordinator, slope_of
from programs import TINY, Folder, Program, free_port, sets

HONEST, SHARES = 8, 10  # the last shares are newcomers'
FAR = 3                 # of the honest, the first, have bad links
DEADLINE = 20
STOPPED = (130, -15)  # exit codes: by a signal, the second while the program loads
REFUSED_HERE = 4       # network or identity
STRIKES = {"manifest", "size", "digest", "images", "numbers", "values", "norm", "features"}


class Member:
    """An honest client: its process, and how that may end."""

    def __init__(self, run, name, share, address):
        self.run, self.name, self.share, self.address, self.kits = run, name, share, address, 0
        self.may_end = None  # exit codes; None: it is to run on
        self.new_kit()
        self.start()

    def new_kit(self, *words):
        self.kits += 1
        self.kit = self.run.folder.path / f"kit-{self.name}-{self.kits}"
        self.run.folder.run("pki", "issue", self.name, "--pki", self.run.pki, "--server", self.address, "--out",
                            self.kit, *words)

    def start(self):
        self.may_end = None
        self.program = self.run.folder.start(
            f"{self.name}.log", "join", "--kit", self.kit, *self.run.config,
            *sets(client__share=f"{self.share}/{SHARES}", train__workers=1), "--out",
            self.run.folder.path / f"joined-{self.name}")

    def stop(self):
        self.may_end = STOPPED
        self.program.process.terminate()

    def kill(self):
        self.may_end = (-9,)
        self.program.process.kill()

    def ended(self, seconds=45):
        """Waits until it has ended as it was told to, or says that it has not."""
        code = self.program.wait(seconds)
        if code not in self.may_end:
            self.run.wrong.append(f"{self.name} ended with {code}, not {self.may_end}: {self.program.text()[-300:]}")
            self.program.end()


class Endurance:
    def __init__(self, folder, options):
        self.folder, self.options, self.wrong = folder, options, []
        self.address, self.pki = f"127.0.0.1:{free_port()}", folder.path / "pki"
        self.config = ["--config", TINY, *sets(
            partition__scheme="iid", partition__clients=SHARES, data__limit=SHARES * IMAGES,
            train__rounds=options.rounds, server__deadline=DEADLINE, server__patience=30, server__poll=2,
            server__linger=30, server__strikes=1000, server__handshake=3, server__rate_window=3)]
        self.lives, self.samples = 0, []  # of the coordinator: (life, rounds so far, seconds, MB, descriptors)
        self.gaps, self.last_round, self.disturbed = [], time.monotonic(), 0.0
        self.begun = time.monotonic()

    def begin(self):
        self.folder.run("pki", "init", "--out", self.pki)
        self.server = None
        self.members = {}
        forwarder = pathlib.Path(__file__).resolve().parent / "forwarder.py"
        link = Program([sys.executable, str(forwarder), "--to", self.address, "--delay", "400", "--loss", "0.02"],
                       self.folder.path / "link.log", stdin=subprocess.PIPE)
        self.folder.programs.append(link)
        far = link.after("listening on ")
        for share in range(HONEST):  # enrolled before the coordinator begins: the first round waits for them
            self.members[f"c{share}"] = Member(self, f"c{share}", share, far if share < FAR else self.address)
        self.serve()
        self.coordinator = Coordinator(self.server, self.folder.path / "served")
        kit = self.folder.issue("mallory", self.address)
        self.floods = Floods(self.address, kit, self.folder.path)
        self.busy = []

    def serve(self):
        self.lives += 1
        self.server = self.folder.start(
            "serve.log", "serve", "--resume", *self.config, "--listen", self.address, "--pki", self.pki,
            "--out", self.folder.path / "served")
        if self.lives > 1:
            self.coordinator.program = self.server

    def act(self, what, who, number):
        member = self.members.get(who)
        if what in ("stop", "kill"):
            getattr(member, what)()
        elif what == "revoke":
            member.may_end = (REFUSED_HERE,)
            self.folder.run("pki", "revoke", who, "--pki", self.pki)
        elif what == "renew":
            member.may_end = (REFUSED_HERE,)
            member.new_kit("--renew")
        elif what in ("back", "back renewed"):
            member.ended()
            if what == "back renewed":
                member.new_kit("--renew")
            member.start()
        elif what == "newcomer":
            self.members[who] = Member(self, who, HONEST + number % (SHARES - HONEST), self.address)
        elif what == "gone for good":
            member.stop()
            member.ended()
            self.folder.run("pki", "revoke", who, "--pki", self.pki)
            del self.members[who]
        elif what == "kill coordinator":
            self.server.end()
        elif what == "stop coordinator":
            self.server.process.terminate()
        elif what == "resume coordinator":
            if self.server.wait(60) not in (-9, *STOPPED):
                self.wrong.append(f"the coordinator did not stop: {self.server.text()[-300:]}")
                self.server.end()
            self.serve()
            self.disturbed += 2 * DEADLINE  # the round begins again
        else:
            thread = threading.Thread(target=self.floods.run, args=(what, number), daemon=True)
            thread.start()
            self.busy.append(thread)

    def look(self):
        """Rounds, memory, and clients that are gone without having been told to."""
        now = time.monotonic()
        for line in self.coordinator.new_rounds():
            self.gaps.append((now - self.last_round, self.disturbed, line["round"]))
            self.last_round, self.disturbed = now, 0.0
            self.samples.append((self.lives, line["round"], now - self.begun, self.coordinator.memory(),
                                 self.coordinator.descriptors()))
            if line["round"] % 100 == 0:
                _, number, seconds, size, descriptors = self.samples[-1]
                print(f"  {seconds:6.0f} s: round {number}, {size:.1f} MB, {descriptors} descriptors", flush=True)
        for member in self.members.values():
            if member.may_end is None and not member.program.alive() and member.program.process.returncode != 0:
                self.wrong.append(f"{member.name} ended by itself: {member.program.text()[-300:]}")
                member.start()

    def play(self, plan):
        start = time.monotonic()
        for second, what, who, number in plan:
            while time.monotonic() - start < second:
                self.look()
                time.sleep(0.1)
            if not self.server.alive() and self.server.process.returncode == 0:
                self.wrong.append(f"the run ended at second {second:.0f} of the plan: give more --rounds")
                return
            print(f"  {second:6.0f} s: {what} {who}", flush=True)
            acted = time.monotonic()
            self.act(what, who, number)
            self.disturbed += time.monotonic() - acted
        for thread in self.busy:
            thread.join(60)
        print(f"  {time.monotonic() - start:6.0f} s: the plan is over after {len(self.samples)} rounds", flush=True)

    def finish(self):
        """The remaining rounds, undisturbed and over good links."""
        for share in range(FAR if self.server.alive() else 0):
            self.members[f"c{share}"].address = self.address
            self.act("renew", f"c{share}", 0)
            self.act("back renewed", f"c{share}", 0)
        end = time.monotonic() + 600 + 30 * self.options.minutes
        while self.server.alive() and time.monotonic() < end:
            self.look()
            time.sleep(0.1)
        codes = {"coordinator": self.server.wait(1)} | {
            member.name: member.program.wait(60) for member in self.members.values()}
        self.look()
        if set(codes.values()) != {0}:
            self.wrong.append(f"exit codes at the end: {codes}")

    def judge_rounds(self):
        numbers = [number for _, number, *_ in self.samples]
        if numbers != list(range(1, self.options.rounds + 1)):
            self.wrong.append(f"{len(numbers)} rounds were committed, of {self.options.rounds}")
        # A round waits for the slow until its deadline, and as long again for an update under way that it needs.
        for gap, allowed, number in self.gaps:
            if gap > 2 * DEADLINE + allowed + 60:  # a busy machine starts programs slowly
                self.wrong.append(f"round {number} took {gap:.0f} s, of which disturbances explain {allowed:.0f}")
        gaps = sorted(gap for gap, *_ in self.gaps)
        print(f"{len(numbers)} rounds; from one to the next {statistics.median(gaps):.2f} s (median), "
              f"longest {gaps[-1]:.1f} s")

    def judge_memory(self):
        last = [sample for sample in self.samples if sample[0] == self.lives]
        settled = last[len(last) // 4:]  # buffers and pools have their size
        if len(settled) < 30:
            self.wrong.append("the last process of the coordinator is too short to be judged")
            return
        slope = 1024 * slope_of([each[1] for each in settled], [each[3] for each in settled])
        first, final = (statistics.mean(each[3] for each in part) for part in (settled[:10], settled[-10:]))
        minutes = (last[-1][2] - last[0][2]) / 60
        before = statistics.median(each[4] for each in self.samples[:10])
        after = settled[-1][4]
        print(f"the coordinator's last process: {minutes:.0f} minutes, {len(last)} rounds; {first:.1f} MB, at the end "
              f"{final:.1f} MB, slope {slope:.2f} KB per round; {before:.0f} descriptors, at the end {after}")
        if slope * len(settled) > 1024 * self.options.growth:
            self.wrong.append(f"the coordinator grows by {slope:.2f} KB per round")
        if after > before + 12:  # as many clients as at the beginning, and some connections on their way out
            self.wrong.append(f"{after} descriptors at the end, {before:.0f} at the beginning")

    def judge_records(self):
        text = (self.folder.path / "served" / "audit.jsonl").read_text()
        try:
            lines = [json.loads(line) for line in text.splitlines()]
        except ValueError as error:
            self.wrong.append(f"audit.jsonl has a line that is no JSON: {error}")
            return
        if not text.endswith("\n"):
            self.wrong.append("audit.jsonl ends within a line")
        events, accepted = {}, {}
        for line in lines:
            events[line["event"]] = events.get(line["event"], 0) + 1
            if line["event"] == "accept":
                accepted.setdefault(line["round"], set()).add(line["client"])
            if line["event"] == "refuse" and line.get("client") != "mallory" and line["reason"] in STRIKES:
                self.wrong.append(f"an honest update was refused: {line}")
        print(f"audit.jsonl: {len(lines)} lines, {events}")
        metrics = (self.folder.path / "served" / "metrics.jsonl").read_text().splitlines()
        for line in map(json.loads, metrics):
            if line["kind"] == "round" and len(accepted.get(line["round"], ())) < line["clients"]:
                self.wrong.append(f"round {line['round']} counts {line['clients']} updates, the audit log fewer")

    def judge_models(self):
        runs = ["served"] + [f"joined-{name}" for name in self.members]
        digests = {run: self.folder.summary(run)["model_digest"] if (self.folder.path / run / "summary.json").exists()
                   else "none" for run in runs}
        if len(set(digests.values())) != 1 or "none" in digests.values():
            self.wrong.append(f"models differ: {digests}")
        print(f"{len(runs)} models at the end: {set(digests.values())}")
        # The newest checkpoint, and the one before when the newest is damaged.
        checkpoints = self.folder.path / "served" / "checkpoints"
        generations = [entry["file"] for entry in json.loads((checkpoints / "commit.json").read_text())]
        for run in runs:
            self.folder.run("export", "--run", self.folder.path / run, "--out", self.folder.path / f"encoder-{run}")
        spoilt = self.folder.path / "spoilt"
        shutil.copytree(self.folder.path / "served", spoilt)
        (spoilt / "checkpoints" / generations[0]).write_bytes(b"damaged")
        self.folder.run("export", "--run", spoilt, "--out", self.folder.path / "encoder-spoilt")
        print(f"checkpoints open: {', '.join(generations)}, and those of {len(self.members)} clients")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kindred")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, help="more than the plan lasts; default: 25 per minute")
    parser.add_argument("--growth", type=float, default=16, help="MB that its last process may grow, once settled")
    options = parser.parse_args()
    options.rounds = options.rounds or int(25 * options.minutes)
    plan = make_plan(options.seed, 60 * options.minutes, [f"c{number}" for number in range(HONEST)])
    print(f"the plan of seed {options.seed}, {len(plan)} events:")
    for second, what, who, _ in plan:
        print(f"  {second:6.1f} s  {what} {who}")
    with Folder(options.kindred, "endurance") as folder:
        run = Endurance(folder, options)
        run.begin()
        print(f"{options.rounds} rounds", flush=True)
        run.play(plan)
        run.finish()
        for what, ends in sorted(run.floods.counts.items()):
            print(f"{what}: {ends}")
        for judge in (run.judge_rounds, run.judge_memory, run.judge_records, run.judge_models):
            try:
                judge()
            except (OSError, RuntimeError, ValueError) as error:
                run.wrong.append(f"{judge.__name__}: {error}")
        for what in run.wrong:
            print("wrong:", what)
        print("FAIL" if run.wrong else "PASS")
        return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
