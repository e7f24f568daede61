"""A coordinator and honest clients to be attacked, and the lines that say what came of it."""
import concurrent.futures
import time

from programs import TINY, free_port, sets
from wire import Client

CLIENTS, IMAGES = 3, 32
RATE_WINDOW, HANDSHAKE = 3, 3  # seconds, of the coordinators here
STRIKE = "INVALID_ARGUMENT"
STATE = "FAILED_PRECONDITION"
DENIED = "PERMISSION_DENIED"

results = []


def report(row, what, good, seen=""):
    results.append((row, what, good))
    word = "SKIP" if good is None else "PASS" if good else "FAIL"
    print(f"{word}  row {row:>2}  {what}{'' if good else ': ' + str(seen)}", flush=True)


def config_words(**more):
    return ["--config", TINY, *sets(partition__scheme="iid", partition__clients=CLIENTS,
                                    data__limit=CLIENTS * IMAGES, **more)]


class Federation:
    """A coordinator and honest clients; hostile ones come as they are asked for."""

    def __init__(self, folder, name, rounds, limit=None, **server):
        self.folder, self.name = folder, name
        self.address = f"127.0.0.1:{free_port()}"
        self.rounds, self.refusals = rounds, []  # (client, reason) that the audit log must have
        folder.run("pki", "init", "--out", folder.path / f"{name}-pki")
        self.honest_names = [f"{name}-c{i}" for i in range(CLIENTS)]
        for each in self.honest_names:
            self.issue(each)
        self.server_settings = server
        self.config = config_words(train__rounds=rounds, **server)
        self.limit = limit

    def issue(self, name):
        return self.folder.issue(name, self.address, f"{self.name}-pki")

    def serve(self):
        # A limit of descriptors is set by the shell, which the coordinator replaces.
        before = []
        if self.limit:
            before = ["/bin/sh", "-c", f'ulimit -n {self.limit} && exec "$@"', "sh"]
        self.server = self.folder.start(
            f"{self.name}-serve.log", "serve", *self.config, "--listen", self.address, "--pki",
            self.folder.path / f"{self.name}-pki", "--out", self.folder.path / f"{self.name}-served",
            before=before)
        self.server.after("listening on ")

    def join(self):
        self.honest = [
            self.folder.start(
                f"{each}.log", "join", "--kit", self.folder.path / f"kit-{each}", *self.config,
                *sets(client__share=f"{i}/{CLIENTS}", client__key="seeded", train__workers=1),
                "--out", self.folder.path / f"joined-{each}")
            for i, each in enumerate(self.honest_names)]

    def client(self, name, images=IMAGES):
        """A hostile client, a member of the run unless images is 0."""
        if not (self.folder.path / f"kit-{name}").exists():
            self.issue(name)
        client = Client(self.address, self.folder.path / f"kit-{name}", name)
        outcome = client.join(images)
        if outcome.code != "OK":
            raise RuntimeError(f"{name} cannot join: {outcome}")
        return client

    def clients(self, names):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip(names, pool.map(self.client, names)))

    def audit(self):
        return self.folder.audit(f"{self.name}-served")

    def accepted(self, number, names):
        """Whether the updates of these clients count in the round."""
        done = {line["client"] for line in self.audit()
                if line["event"] == "accept" and line["round"] == number + 1}
        return done.issuperset(names)

    def expect(self, row, what, client, outcome, code, reasons):
        """A call that must be refused, with one of these reasons."""
        reasons = [reasons] if isinstance(reasons, str) else reasons
        good = outcome.code == code and outcome.reason in reasons and self.server.alive()
        report(row, what, good, f"{outcome}; wanted {code} {'/'.join(reasons)}")
        if outcome.reason:
            self.refusals.append((client.name, outcome.reason))

    def answers(self, client, seconds=5):
        """Whether the coordinator lives and answers somebody who calls anew; who called too often waits."""
        fresh = Client(self.address, client.kit, client.name)
        end = time.monotonic() + seconds
        while True:
            outcome = fresh.join(0, seconds=seconds)
            if outcome.reason != "busy" or time.monotonic() > end:
                break
            time.sleep(0.1)
        fresh.close()
        return self.server.alive() and outcome.code == "OK"

    def finish(self, seconds):
        codes = [self.server.wait(seconds)] + [each.wait(60) for each in self.honest]
        return codes
