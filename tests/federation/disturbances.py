"""What happens to a federation in an hour: a plan drawn from a seed, and the floods of it."""
import contextlib
import random
import struct
import time

import http2
from connections import closed_within, plain_connection
from federation import IMAGES
from updates import CONTENTS, Update
from wire import Client, parts_of, pb, read_kept, seal

MOST_AWAY = 3  # of the honest clients at a time
LAST = 45      # seconds at the end of the plan without anything new

# How often each is drawn. Those of the first list happen to one honest client, which comes back.
TO_CLIENTS = {"stop": 4, "kill": 4, "revoke": 2, "renew": 1}
TO_COORDINATOR = {"kill coordinator": 2, "stop coordinator": 1}
FLOODS = {"flood from one address": 2, "flood from many addresses": 1, "half handshakes": 2, "strangers": 1, "pings": 1,
          "reset streams": 1, "streams": 1, "download unread": 1, "bad update": 3, "trickle": 1}


def make_plan(seed, seconds, clients):
    """(second, what, who, number) in order of time.

    The coordinator is killed and stopped in the first four tenths alone: what it does afterwards is one process, long
    enough to show a leak. Of a newcomer the plan has the coming and the going for good.
    """
    draw = random.Random(seed)
    free = dict.fromkeys(clients, 20.0)  # from when on something may happen to it again
    coordinator_free, newcomer_free, newcomers = 30.0, 0.0, 0
    events, now = [], 10.0
    while True:
        now += draw.expovariate(1 / 4)
        if now > seconds - LAST:
            break
        kind = draw.choices(("client", "coordinator", "newcomer", "flood"), (8, 2, 1, 6))[0]
        if kind == "client":
            ready = [name for name in clients if free[name] <= now]
            if len(clients) - len(ready) >= MOST_AWAY or not ready:
                continue
            who, what = draw.choice(ready), draw.choices(list(TO_CLIENTS), list(TO_CLIENTS.values()))[0]
            away = draw.choice((1, 3, 10, 25))
            back = "back" if what in ("stop", "kill") else "back renewed"
            events += [(now, what, who, 0), (now + away, back, who, 0)]
            free[who] = now + away + 15
        elif kind == "coordinator" and coordinator_free <= now < 0.4 * seconds:
            what = draw.choices(list(TO_COORDINATOR), list(TO_COORDINATOR.values()))[0]
            away = draw.choice((0, 2, 8))
            events += [(now, what, "", 0), (now + away, "resume coordinator", "", 0)]
            coordinator_free = now + away + 60
        elif kind == "newcomer" and newcomer_free <= now and now + 90 < seconds - LAST:
            newcomers += 1
            stays = draw.uniform(20, 80)
            events += [(now, "newcomer", f"new{newcomers}", newcomers),
                       (now + stays, "gone for good", f"new{newcomers}", newcomers)]
            newcomer_free = now + stays + 10
        elif kind == "flood":
            what = draw.choices(list(FLOODS), list(FLOODS.values()))[0]
            events.append((now, what, "", draw.randrange(1 << 20)))
    return sorted(events)


class Floods:
    """Those who do their worst, each bounded in count and time; the coordinator may be gone meanwhile."""

    def __init__(self, address, kit, template_folder):
        self.address, self.kit, self.template_folder = address, kit, template_folder
        self.counts = {}

    def run(self, what, number):
        """Counts how it ended."""
        draw = random.Random(number)
        try:
            seen = getattr(self, what.replace(" ", "_"))(draw)
        except (OSError, RuntimeError, StopIteration) as error:
            seen = f"not possible ({type(error).__name__})"
        ends = self.counts.setdefault(what, {})
        ends[seen] = ends.get(seen, 0) + 1

    def flood(self, draw, sources, count):
        seconds, open_ones, end = draw.uniform(1, 8), [], time.monotonic() + 10
        for at in range(count):
            if time.monotonic() > end:
                break
            with contextlib.suppress(OSError):
                open_ones.append(plain_connection(self.address, sources[at % len(sources)]))
        time.sleep(seconds)
        for each in open_ones:
            each.close()
        return "done"

    def flood_from_one_address(self, draw):
        return self.flood(draw, ["127.0.0.2"], draw.randrange(100, 600))

    def flood_from_many_addresses(self, draw):
        return self.flood(draw, [f"127.0.1.{last}" for last in range(1, 9)], draw.randrange(900, 1500))

    def half_handshakes(self, draw):
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
        open_ones = [plain_connection(self.address, "127.0.0.3") for _ in range(draw.randrange(20, 200))]
        for each in open_ones:
            each.send(hello[:draw.randrange(len(hello) + 1)])
        cut = sum(closed_within(each, 15) for each in open_ones)
        for each in open_ones:
            each.close()
        return "all cut" if cut == len(open_ones) else "left open"

    def strangers(self, draw):
        """Handshakes without a certificate."""
        context = http2.ssl.SSLContext(http2.ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, http2.ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        for _ in range(draw.randrange(20, 100)):
            with plain_connection(self.address, "127.0.0.4") as nobody, contextlib.suppress(OSError):
                with context.wrap_socket(nobody) as greeted:
                    greeted.settimeout(1)
                    greeted.recv(100)
        return "done"

    def connect(self, settings=b""):
        return contextlib.closing(http2.Connection(self.address, self.kit, settings=settings))

    def pings(self, draw):
        with self.connect() as connection:
            for _ in range(100):
                if not connection.send(http2.frame(http2.PING, 0, 0, b"12345678") * 100):
                    return "cut"
                if any(kind == http2.GOAWAY for kind, *_ in connection.frames(0.02)):
                    return "cut"
            connection.frames(5)
            return "cut" if connection.closed else "left open"

    def opened(self, method, first, end=b""):
        block = http2.call_headers(method)
        return b"".join(http2.frame(http2.HEADERS, http2.END_HEADERS, number, block) +
                        (http2.frame(http2.RST, 0, number, end) if end else b"")
                        for number in range(first, first + 200, 2))

    def reset_streams(self, draw):
        with self.connect() as connection:
            for first in range(1, 10000, 200):
                if not connection.send(self.opened("WaitForPlan", first, struct.pack(">I", 8))):
                    break
        return "done"

    def streams(self, draw):
        with self.connect() as connection:
            for first in range(1, 4000, 200):
                if not connection.send(self.opened("Upload", first)):
                    break
            connection.frames(draw.uniform(1, 5))
        return "done"

    def member(self):
        """An enrolled one who joins, and its plan when it gets one. The caller closes."""
        client = Client(self.address, self.kit, "mallory")
        client.join(IMAGES, seconds=5)
        end = time.monotonic() + 20
        while client.run and time.monotonic() < end:
            outcome = client.plan(seconds=5)
            if outcome.code == "OK" and outcome.reply.state == pb.PlanReply.TRAIN:
                return client, outcome.reply
            time.sleep(0.2)
        return client, None

    def update(self, client, plan):
        """One that would be fine, of the size that this model has."""
        for path in self.template_folder.rglob("round-*.kept"):
            with contextlib.suppress(OSError):  # clients replace theirs
                template, _, _ = read_kept(path)
                model = client.download(plan.round).reply
                if model:
                    return Update(template, client, plan, model)
        return None

    def with_update(self, act):
        client, plan = self.member()
        try:
            update = self.update(client, plan) if plan else None
            return act(client, update) if update else "no plan"
        finally:
            client.leave()
            client.close()

    def bad_update(self, draw):
        def act(client, update):
            draw.choice(CONTENTS)[2](update)
            outcome = client.upload(update.header, bytes(update.data))
            return "accepted" if outcome.code == "OK" else "refused" if outcome.reason else "broken"
        return self.with_update(act)

    def trickle(self, draw):
        def act(client, update):
            begin, end = seal(update.header, bytes(update.data)), time.monotonic() + 20

            def parts():
                for part in parts_of(begin, bytes(update.data), 1024):
                    if time.monotonic() > end:
                        return
                    yield part
                    time.sleep(0.2)
            client.send(parts(), seconds=30)
            return "done"
        return self.with_update(act)

    def download_unread(self, draw):
        client, plan = self.member()
        try:
            if not plan:
                return "no plan"
            request = pb.DownloadRequest(run=client.run, round=plan.round).SerializeToString()
            with self.connect(struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)) as connection:
                connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers("Download")) +
                                http2.frame(http2.DATA, http2.END_STREAM, 1, http2.message(request)))
                over = lambda seen: any(kind in (http2.RST, http2.GOAWAY) for kind, *_ in seen)
                return "cut" if over(connection.frames(30, over)) or connection.closed else "left open"
        finally:
            client.leave()
            client.close()
