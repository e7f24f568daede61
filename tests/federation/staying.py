"""Attacks by those who stay: connections without end, and downloads that nobody reads."""
import contextlib
import struct
import time

import http2
from connections import closed_within, open_calls, reasons
from federation import CLIENTS, Federation, report
from programs import Folder, wait_until
from wire import pb

IDLE, AGE, PER_CLIENT = 3, 12, 2


def call(connection, stream, method, request):
    """A whole call by hand, its answer unread."""
    return connection.send(
        http2.frame(http2.HEADERS, http2.END_HEADERS, stream, http2.call_headers(method)) +
        http2.frame(http2.DATA, http2.END_STREAM, stream, http2.message(request.SerializeToString())))


def is_over(seen):
    return any(kind in (http2.RST, http2.GOAWAY) for kind, *_ in seen)


def attack_by_staying(kindred):
    print("\nconnections that stay, downloads of rounds that are over\n", flush=True)
    with Folder(kindred, "stays") as folder:
        fed = Federation(folder, "y", 2, server__patience=5, server__poll=1, server__linger=20,
                         server__rate_window=600, server__max_idle=IDLE, server__max_age=AGE,
                         server__max_per_client=PER_CLIENT)
        for name in ("keeper", "idles", "ages", "many", "revoked"):
            fed.issue(name)
        fed.serve()
        keeper = fed.client("keeper")
        fed.join()
        plan = keeper.plan_of(0)
        greeting = pb.JoinRequest(protocol=2, version="test", images=0)
        kit = lambda name: folder.path / f"kit-{name}"

        idle = http2.Connection(fed.address, kit("idles"))
        report(15, f"an idle connection of an enrolled client is closed after {IDLE} s",
               closed_within(idle.socket, IDLE + 10), "open")

        old, stream, start = http2.Connection(fed.address, kit("ages")), 1, time.monotonic()
        seen = []
        while time.monotonic() < start + AGE + 15 and not is_over(seen) and not old.closed:
            call(old, stream, "Join", greeting)
            stream += 2
            seen = old.frames(0.5, is_over)
        took = time.monotonic() - start
        report(15, f"a connection that makes calls has to be made anew after {AGE} s",
               (is_over(seen) or old.closed) and took > 0.8 * AGE, f"{seen} after {took:.0f} s")

        several = [http2.Connection(fed.address, kit("many")) for _ in range(PER_CLIENT + 1)]
        answers = []
        for each in several:
            call(each, 1, "Join", greeting)
            answers.append(b"".join(payload for kind, _, _, payload in each.frames(
                5, lambda seen: any(kind == http2.HEADERS and flags & http2.END_STREAM
                                    for kind, flags, *_ in seen))))
        report(14, f"{PER_CLIENT} connections of one client are let in, the next is refused",
               [b"server.max_per_client" in answer for answer in answers] ==
               [False] * PER_CLIENT + [True], answers)
        report(14, "and closed", closed_within(several[-1].socket, 10), "open")

        # Who was revoked hears why, then its connection ends.
        revoked = http2.Connection(fed.address, kit("revoked"))
        folder.run("pki", "revoke", "revoked", "--pki", folder.path / f"{fed.name}-pki")
        call(revoked, 1, "Join", greeting)
        told = b"".join(payload for _, _, _, payload in revoked.frames(1.5))
        report(13, "a revoked client is told so", b"revoked" in told, told)
        report(13, "and its connection is closed, in spite of its further calls",
               closed_within(revoked.socket, 10), "open")

        # gRPC 1.51 holds a client to server.max_streams only if it acknowledges that: else its own buffers are the limit.
        crowd = http2.Connection(fed.address, kit("ages"), acknowledge=False)
        fed.server.forget_peak()
        open_calls(crowd, 20000)
        grown = fed.server.grown()
        report(16, f"20000 streams of a client that acknowledges no limit cost {grown:.0f} MB, others are answered",
               grown < 320 and fed.answers(keeper, 10), "more, or no answer")
        crowd.close()

        # The model of a round goes with it, for those who read slowly too.
        zero = struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)
        slow = http2.Connection(fed.address, kit("keeper"), settings=zero)
        call(slow, 1, "Download", pb.DownloadRequest(run=keeper.run, round=plan.round))
        report(15, "a download that nobody reads waits while its round is on",
               not is_over(slow.frames(2, is_over)), "it was cut")
        keeper.leave()
        wait_until("the second round", lambda: fed.accepted(1, fed.honest_names), 120)
        report(15, "and ends with it", is_over(slow.frames(8, is_over)) or slow.closed, "it goes on")

        codes = fed.finish(120)
        report(15, "the run ends well", codes == [0] * (CLIENTS + 1), codes)
        report(15, "closed connections are in the audit log", "connections" in reasons(fed),
               reasons(fed))
        for each in (idle, old, slow, revoked, *several):
            with contextlib.suppress(OSError):
                each.close()
        keeper.close()
