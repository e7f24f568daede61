#!/usr/bin/python3
"""A thousand clients at one coordinator, over gRPC on loopback with mutual TLS.

    load.py KINDRED [--clients 1000] [--rounds 50] [--drop 0.3] [--bad 50] [--seed 0]

The clients speak the wire themselves (wire.py) and send the global model with a little noise: a thousand that train
would need a thousand times a trainer's memory. In each round every one of them drops out with probability --drop, in
one of three ways: it takes the plan and never answers, it breaks its upload off in the middle, or it closes its
connection. The links of --bad clients have a delay of 200 ms each way and 5 % of their segments stall (forwarder.py).

All rounds must end, nobody may be refused for what it sent, clients with bad links must count too, and the coordinator
may not grow: its resident memory is measured after each round, and the slope of a line through the last two thirds must
be below --slope. Exit code 1 when one of these fails.
"""
import argparse
import asyncio
import math
import multiprocessing
import pathlib
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the source folder
import grpc
import numpy

from federation import Federation, sets
from measures import Coordinator, slope_of
from programs import TINY, Folder, Program, free_port
from wire import CHUNK, dial, pb, pb_grpc, read_kept, seal

WORKERS = 4  # processes that play clients
IMAGES, ROWS, WIDTH = 100, 8, 128
MODEL = sets(model__width=2, method__name="ccl", ccl__bank=ROWS, ccl__neighbors=2, train__batch=8, data__limit=160,
             features__max_remote=64)
LATE = ("round", "chosen", "nonce", "full")  # the round went on without it
WAYS = ("silent", "broken off", "closed")


class Player:
    """One client: asks for plans, and answers or drops out."""

    def __init__(self, options, number, address, kit, template):
        self.options, self.number, self.address, self.template = options, number, address, template
        self.identity = [(kit / name).read_bytes() for name in ("ca.crt", "client.key", "client.crt")]
        self.random = random.Random(options.seed * 100003 + number)
        self.noise = numpy.random.default_rng([options.seed, number])
        self.done = dict.fromkeys(("sent", *WAYS, "late", "asked again", "refused"), 0)
        self.reasons, self.run = set(), ""
        self.connect()

    def connect(self):
        self.channel = dial(self.address, *self.identity, of=grpc.aio)
        self.stub = pb_grpc.FederationStub(self.channel)

    async def fetch(self, plan, what):
        request = pb.DownloadRequest(run=self.run, round=plan.round, what=what)
        return b"".join([chunk.data async for chunk in self.stub.Download(request, timeout=120)])

    def update(self, plan, model):
        """Header and bytes: the model with noise, and features."""
        header = pb.UploadHeader()
        header.tensors.extend(self.template.tensors)
        header.key.run, header.key.round, header.key.id = self.run, plan.round, f"u{self.number}-{plan.round}"
        header.nonce, header.images, header.seen, header.loss, header.steps = plan.nonce, IMAGES, IMAGES, 1.0, 3
        data = bytearray(model)
        for place in header.tensors:
            if place.kind == "F32" and place.name.endswith("weight"):
                values = numpy.frombuffer(data, numpy.float32, place.bytes // 4, place.offset)
                values += 0.01 * self.noise.standard_normal(values.size, numpy.float32) * numpy.abs(values).mean()
        rows = self.noise.standard_normal((ROWS, WIDTH), numpy.float32)
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        data = bytes(data) + rows.tobytes()
        header.feature_rows, header.bytes = ROWS, len(data)
        return header, data

    async def answer(self, plan, whole=True):
        """Downloads, and sends an update, or the first half of one."""
        model = await self.fetch(plan, pb.DownloadRequest.MODEL)
        await self.fetch(plan, pb.DownloadRequest.REMOTE)
        header, data = self.update(plan, model)
        call = self.stub.Upload(timeout=300)
        await call.write(pb.UploadPart(begin=seal(header, data)))
        await call.initial_metadata()  # there is room
        if not whole:
            await call.write(pb.UploadPart(data=data[:len(data) // 2]))
            call.cancel()
            return
        for at in range(0, len(data), CHUNK):
            await call.write(pb.UploadPart(data=data[at:at + CHUNK]))
        await call.done_writing()
        await call

    async def drop_out(self, plan):
        way = self.random.choice(WAYS)
        self.done[way] += 1
        if way == "broken off":
            await self.answer(plan, whole=False)
        elif way == "closed":
            await self.channel.close()
            await asyncio.sleep(self.random.random())
            self.connect()

    async def play(self):
        answered = -1
        joined = await self.insist(lambda: self.stub.Join(
            pb.JoinRequest(protocol=2, version="load", images=IMAGES), timeout=60))
        self.run = joined.run if joined else ""
        while joined:
            plan = await self.insist(lambda: self.stub.WaitForPlan(pb.PlanRequest(run=self.run), timeout=90))
            if plan is None or plan.state == pb.PlanReply.FINISHED:
                break
            if plan.state == pb.PlanReply.WAIT:
                continue
            if plan.round == answered:  # it dropped out of this one, or came too late
                await asyncio.sleep(1)
                continue
            answered = plan.round
            try:
                if self.random.random() < self.options.drop:
                    await self.drop_out(plan)
                else:
                    await self.answer(plan)
                    self.done["sent"] += 1
            except grpc.aio.AioRpcError as error:
                self.blame(error)
        await self.channel.close()

    def blame(self, error):
        reason = dict(list(error.trailing_metadata() or ())).get("kindred-reason", "")
        if reason in LATE:
            self.done["late"] += 1
        elif error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED):
            self.done["asked again"] += 1
        else:
            self.done["refused"] += 1
            self.reasons.add(f"{error.code().name} {reason} {error.details()}")

    async def insist(self, call):
        """What the coordinator answers, asked until it does; None when it is gone."""
        for _ in range(30):
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                self.blame(error)
                await asyncio.sleep(0.5 + self.random.random())
        return None


def play_all(options, numbers, addresses, folder, template, results):
    async def main():
        players = [Player(options, number, addresses[number], folder / f"kit-n{number}", template)
                   for number in numbers]
        await asyncio.gather(*[player.play() for player in players])
        total = {key: sum(player.done[key] for player in players) for key in players[0].done}
        results.put((total, sorted(set.union(*[player.reasons for player in players]))[:5]))
    asyncio.run(main())


def template_of(folder):
    """What an update of this model looks like, from a federation of honest clients."""
    fed = Federation(folder, "h", 1, server__linger=1)
    fed.config += MODEL
    fed.serve()
    fed.join()
    fed.finish(180)
    header, _, _ = read_kept(next((folder.path / f"joined-{fed.honest_names[0]}").rglob("round-0.kept")))
    return header


def addresses_of(folder, options, address):
    """Where each client finds the coordinator: the first --bad of them at the other end of a bad link."""
    link = Program([sys.executable, str(pathlib.Path(__file__).resolve().parent / "forwarder.py"), "--to", address,
                    "--delay", "200", "--loss", "0.05", "--seed", str(options.seed)],
                   folder.path / "link.log", stdin=subprocess.PIPE)
    folder.programs.append(link)
    bad = link.after("listening on ")
    return [bad if number < options.bad else address for number in range(options.clients)]


def serve(folder, options, address):
    # Of those enrolled, as many are wanted as will hardly ever drop out together; all are asked.
    spread = math.sqrt(options.drop * (1 - options.drop) / options.clients)
    wanted = 1 - options.drop - 3.5 * spread
    server = folder.start(
        "serve.log", "serve", "--config", TINY, *MODEL, *sets(
            train__rounds=options.rounds, train__participation=f"{wanted:.3f}",
            server__over_selection=f"{1 / wanted - 1:.3f}", server__min_clients=max(2, options.clients // 4),
            server__deadline=60, server__patience=120, server__linger=20, server__strikes=1000,
            server__max_connections=4 * options.clients, server__max_per_address=4 * options.clients),
        "--listen", address, "--pki", folder.path / "pki", "--out",
        folder.path / "served")
    server.after("listening on ")
    return server


def watch(server, folder, options, workers):
    """The coordinator's memory after each round, in MB, and the lines of the rounds."""
    coordinator, sizes, rounds = Coordinator(server, folder.path / "served"), [], []
    start = time.monotonic()
    while server.alive() and time.monotonic() - start < options.seconds and not any(each.exitcode for each in workers):
        size, told = coordinator.memory(), len(rounds)
        rounds += coordinator.new_rounds()
        sizes += [size or sizes[-1]] * (len(rounds) - told)
        if len(rounds) // 5 > told // 5:
            print(f"round {len(rounds)}: {sizes[-1]:.0f} MB, {coordinator.descriptors()} descriptors, "
                  f"{rounds[-1]['clients']} clients, {rounds[-1]['seconds']:.1f} s", flush=True)
        time.sleep(0.1)
    return sizes, rounds + coordinator.new_rounds()


def judge(folder, options, sizes, rounds, code, told):
    total = {key: sum(part[key] for part, _ in told) for key in told[0][0]}
    seconds = sorted(line["seconds"] for line in rounds)
    bad = {f"n{number}" for number in range(options.bad)}
    counted = sum(line["event"] == "accept" and line["client"] in bad for line in folder.audit())
    late = len(sizes) // 3
    slope = 1024 * slope_of(range(late, len(sizes)), sizes[late:])
    clients = [line["clients"] for line in rounds]
    print(f"{len(rounds)} rounds, median {seconds[len(seconds) // 2]:.1f} s, longest {seconds[-1]:.1f} s; updates per "
          f"round {min(clients)} to {max(clients)}")
    print("clients: " + ", ".join(f"{value} {key}" for key, value in total.items()))
    print(f"bad links: {counted} updates counted, {counted / len(rounds) / max(1, options.bad):.2f} per client, round")
    print(f"coordinator: {sizes[late]:.1f} MB after round {late + 1}, {sizes[-1]:.1f} MB after round {len(sizes)}, "
          f"slope {slope:.1f} KB per round; exit code {code}")
    for _, reasons in told:
        for reason in reasons:
            print("refused:", reason)
    wrong = {"the coordinator did not end well": code != 0, "rounds are missing": len(rounds) != options.rounds,
             "clients were refused": total["refused"] > 0, "bad links never count": options.bad and not counted,
             "the memory grows": slope >= options.slope}
    return [what for what, seen in wrong.items() if seen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kindred")
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--drop", type=float, default=0.3)
    parser.add_argument("--bad", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slope", type=float, default=100, help="KB per round that the coordinator may grow")
    parser.add_argument("--seconds", type=float, default=3000, help="then it is given up")
    options = parser.parse_args()
    with Folder(options.kindred, "load") as folder:
        template = template_of(folder)
        address, start = f"127.0.0.1:{free_port()}", time.monotonic()
        folder.run("pki", "init", "--out", folder.path / "pki")
        for number in range(options.clients):
            folder.issue(f"n{number}", address)
        print(f"{options.clients} kits in {time.monotonic() - start:.0f} s; an update has {template.bytes} bytes",
              flush=True)
        server = serve(folder, options, address)
        addresses, results = addresses_of(folder, options, address), multiprocessing.Queue()
        workers = [multiprocessing.Process(target=play_all, daemon=True, args=(
            options, range(first, options.clients, WORKERS), addresses, folder.path, template, results))
            for first in range(WORKERS)]
        for each in workers:
            each.start()
        sizes, rounds = watch(server, folder, options, workers)
        code = server.wait(60)
        told = [results.get(timeout=120) for _ in workers]
        wrong = judge(folder, options, sizes, rounds, code, told)
        print("FAIL: " + ", ".join(wrong) if wrong else "PASS")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
