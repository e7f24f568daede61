#!/usr/bin/python3
"""A federation over bad links: each machine is a network namespace, all are on one bridge.

    links.py KINDRED [SCENARIO ...]

Rates are the kernel's (tbf), delays and losses the forwarder's, cuts are links set down or
connections dropped. Every run must end, and with the model of `kindred train` when nobody missed a
deadline. Needs root and namespaces; exit code 77 without. Namespaces and programs go at the end.
"""
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the source folder
from programs import TINY, Folder, Program, can_serve, sets, wait_until

CLIENTS, ROUNDS = 3, 2
HERE = pathlib.Path(__file__).resolve().parent
PORT = 7433
SUBNET = "10.213.7"

results = []


def report(what, good, seen=""):
    results.append((what, good))
    print(f"{'PASS' if good else 'FAIL'}  {what}{'' if good else ': ' + str(seen)}", flush=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Network:
    """A namespace for the coordinator ("s"), one for each client ("c0", ...), one for the bridge."""

    def __init__(self):
        self.prefix = f"kindred{os.getpid()}"
        self.spaces = []

    def space(self, name):
        return f"{self.prefix}-{name}"

    def within(self, name):
        return ["ip", "netns", "exec", self.space(name)]

    def run(self, name, *words):
        subprocess.run([*self.within(name), *words], check=True, capture_output=True, text=True)

    def __enter__(self):
        try:
            names = ["b", "s"] + [f"c{i}" for i in range(CLIENTS)]
            for name in names:
                ip("netns", "add", self.space(name))
                self.spaces.append(name)
                self.run(name, "ip", "link", "set", "lo", "up")
            self.run("b", "ip", "link", "add", "bridge", "type", "bridge")
            self.run("b", "ip", "link", "set", "bridge", "up")
            for number, name in enumerate(names[1:], 1):
                # eth0 in the machine's space, its other end on the bridge.
                self.run("b", "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0",
                         "netns", self.space(name))
                self.run("b", "ip", "link", "set", name, "master", "bridge", "up")
                self.run(name, "ip", "address", "add", f"{SUBNET}.{number}/24", "dev", "eth0")
                self.run(name, "ip", "link", "set", "eth0", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.spaces:  # a space takes its links with it
            subprocess.run(["ip", "netns", "delete", self.space(name)], capture_output=True)

    def rate(self, name, rate):
        """Bits a second, as tc writes them, on both directions of a machine's link."""
        for space, device in ((name, "eth0"), ("b", name)):
            self.run(space, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate,
                     "burst", "16kb", "latency", "400ms")

    def cut(self, name):
        self.run("b", "ip", "link", "set", name, "down")

    def mend(self, name):
        self.run("b", "ip", "link", "set", name, "up")


class Run:
    """A coordinator, clients and a forwarder beside each client."""

    def __init__(self, folder, network, name, what, forward=(), **settings):
        self.folder, self.name, self.what = folder, name, what
        self.config = ["--config", TINY, *sets(
            partition__scheme="iid", partition__clients=CLIENTS, data__limit=96,
            train__rounds=ROUNDS, **settings)]
        self.server = folder.start(
            f"{name}-serve.log", "serve", *self.config, "--listen", f"{SUBNET}.1:{PORT}", "--pki",
            folder.path / "pki", "--out", folder.path / f"{name}-served",
            *sets(server__linger=120),
            before=network.within("s"))
        self.server.after("listening on ")
        self.forwarders, self.clients = [], []
        for i in range(CLIENTS):
            forwarder = Program([*network.within(f"c{i}"), sys.executable, str(HERE / "forwarder.py"),
                                 "--to", f"{SUBNET}.1:{PORT}", "--listen", f"127.0.0.1:{PORT}",
                                 "--seed", str(i), *forward],
                                folder.path / f"{name}-forwarder-{i}.log", stdin=subprocess.PIPE)
            folder.programs.append(forwarder)
            forwarder.after("listening on ")
            self.forwarders.append(forwarder)
        for i in range(CLIENTS):
            self.clients.append(folder.start(
                f"{name}-c{i}.log", "join", "--kit", folder.path / f"kit-c{i}", *self.config, *sets(
                    client__share=f"{i}/{CLIENTS}", client__key="seeded", train__workers=1),
                "--out", folder.path / f"{name}-joined-{i}", before=network.within(f"c{i}")))

    def tell(self, i, command):
        self.forwarders[i].process.stdin.write((command + "\n").encode())
        self.forwarders[i].process.stdin.flush()

    def wait_for_training(self):
        """Until a client has a plan: it trains, or is about to send what it has trained."""
        audit = lambda: self.folder.audit(f"{self.name}-served")
        wait_until("members", lambda: sum(line["event"] == "join" for line in audit()) == CLIENTS,
                   240)

    def end(self, digest, limit):
        start = time.monotonic()
        codes = [self.server.wait(limit)] + [client.wait(150) for client in self.clients]
        took = time.monotonic() - start
        missed = [line for line in self.folder.audit(f"{self.name}-served") if line["event"] == "miss"]
        served = self.folder.path / f"{self.name}-served" / "summary.json"
        right = served.exists() and self.folder.summary(f"{self.name}-served")["model_digest"] == digest
        good = codes == [0] * (CLIENTS + 1) and (right or missed)
        tail = "" if good else "\n" + self.server.text()[-600:] + "".join(
            client.text()[-600:] for client in self.clients)
        report(f"{self.what}: ended after {took:.0f} s, {len(missed)} deadlines missed, the model is "
               f"{'' if right else 'not '}that of `kindred train`", good, f"exit codes {codes}{tail}")
        for program in [self.server, *self.clients, *self.forwarders]:
            program.end()


def plain(network, start, digest):
    start("no trouble").end(digest, 120)


def delay(network, start, digest):
    start("200 ms each way", ["--delay", "200"]).end(digest, 240)


def loss(network, start, digest):
    start("5 % lost", ["--loss", "0.05"]).end(digest, 400)


def slow(network, start, digest):
    for i in range(CLIENTS):
        network.rate(f"c{i}", "1mbit")
    start("1 Mbit/s").end(digest, 300)


def drop(network, start, digest):
    """All connections of all clients dropped for 3 s, twice: while they train and send."""
    run = start("connections dropped for 3 s", ["--rate", "2000000"])
    run.wait_for_training()
    for _ in range(2):
        for i in range(CLIENTS):
            run.tell(i, "refuse 3")
        time.sleep(6)
    run.end(digest, 240)


def cut_all(network, run, seconds):
    run.wait_for_training()
    time.sleep(1)
    for i in range(CLIENTS):
        network.cut(f"c{i}")
    time.sleep(seconds)
    for i in range(CLIENTS):
        network.mend(f"c{i}")


def cut_short(network, start, digest):
    run = start("links cut for 3 s", ["--rate", "2000000"])
    cut_all(network, run, 3)
    run.end(digest, 240)


def cut_long(network, start, digest):
    run = start("links cut for 90 s", ["--rate", "2000000"])
    cut_all(network, run, 90)
    run.end(digest, 400)


def hole(network, start, digest):
    """Connections that stay open and pass nothing: only keepalive notices."""
    run = start("a black hole of 60 s", ["--rate", "2000000"])
    run.wait_for_training()
    for i in range(CLIENTS):
        run.tell(i, "hole 60")
    run.end(digest, 400)


def late(network, start, digest):
    """One link is cut: the round goes on at its deadline, and the client is back in the next."""
    run = start("one client cut off past the deadline", ["--rate", "1000000"], server__deadline=15)
    run.wait_for_training()
    network.cut("c2")
    time.sleep(20)
    network.mend("c2")
    run.end(digest, 240)


SCENARIOS = {each.__name__: each for each in
             (plain, delay, loss, slow, drop, cut_short, cut_long, hole, late)}


def possible():
    """Why namespaces cannot be made here; empty when they can."""
    if os.geteuid() != 0:
        return "not root"
    try:
        with Network() as network:
            network.rate("c0", "1mbit")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"{error} {getattr(error, 'stderr', '')}".strip()
    return ""


def main():
    kindred, wanted = sys.argv[1], sys.argv[2:] or list(SCENARIOS)
    if not can_serve(kindred):
        print(f"{kindred}: has no `serve`")
        return 1
    why = possible()
    if why:
        print(f"SKIP  network namespaces, veth or tbf are not to be had: {why}")
        return 77
    with Folder(kindred, "links") as folder:
        folder.run("pki", "init", "--out", folder.path / "pki")
        for i in range(CLIENTS):
            folder.issue(f"c{i}", f"127.0.0.1:{PORT}")
        config = ["--config", TINY, *sets(partition__scheme="iid", partition__clients=CLIENTS,
                                          data__limit=96, train__rounds=ROUNDS)]
        folder.run("train", *config, "--out", folder.path / "trained", seconds=300)
        digest = folder.summary("trained")["model_digest"]
        for name in wanted:
            print(f"\n{name}: {SCENARIOS[name].__doc__ or ''}".rstrip(), flush=True)
            with Network() as network:
                def start(what, forward=(), **settings):
                    return Run(folder, network, name, what, forward, **settings)
                try:
                    SCENARIOS[name](network, start, digest)
                except RuntimeError as error:
                    report(name, False, error)
                for program in folder.programs:
                    program.end()  # before their spaces go
    failed = [what for what, good in results if not good]
    print(f"\n{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
