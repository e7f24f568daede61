"""Attacks below the messages: connections, handshakes, HTTP/2."""
import contextlib
import os
import socket
import ssl
import struct
import time

import http2
from federation import HANDSHAKE, IMAGES, RATE_WINDOW, report
from programs import wait_until
from wire import outcome_of, pb


def plain_connection(address, source=""):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10, (source, 0))


def closed_within(connection, seconds, each=None):
    """Whether the other end closes in that time; `each` is done every second meanwhile."""
    end = time.monotonic() + seconds
    connection.settimeout(1)
    while time.monotonic() < end:
        try:
            if each:
                each()
            if connection.recv(4096) == b"":
                return True
        except socket.timeout:
            continue
        except OSError:
            return True
    return False


def reasons(fed):
    """The reasons that the audit log has for its refusals so far."""
    return {line.get("reason") for line in fed.audit()}


def attack_connections(fed, client):
    flood = []
    for _ in range(700):
        with contextlib.suppress(OSError):
            flood.append(plain_connection(fed.address))
    # They stay until the coordinator has come to those beyond its limit: a slow machine accepts them
    # long after they have connected.
    if fed.limit:
        with contextlib.suppress(RuntimeError):
            wait_until("a refused connection", lambda: "connections" in reasons(fed), 30)
    alive = fed.server.alive()
    for each in flood:
        each.close()
    start = time.monotonic()
    answered = fed.answers(client, seconds=10)
    took = time.monotonic() - start
    report(14, f"{len(flood)} connections with 512 descriptors: one who joins after them waits less "
           "than a second", alive and answered and took < 1, f"{answered} after {took:.2f} s")

    # While they are there, others who are connected go on.
    flood = [plain_connection(fed.address) for _ in range(300)]
    outcome = client.join(0)
    report(14, "during a flood those who are connected are answered", outcome.code == "OK", outcome)
    for each in flood:
        each.close()

    # Nobody fills the disk with logs, least of all without a certificate.
    before = fed.server.log.stat().st_size
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    for _ in range(300):
        with contextlib.suppress(OSError), plain_connection(fed.address) as nobody:
            with context.wrap_socket(nobody) as greeted:
                greeted.settimeout(1)
                greeted.recv(100)
    grown = fed.server.log.stat().st_size - before
    report(14, "300 handshakes without a certificate do not fill the log", grown < 10000,
           f"{grown} bytes more")
    flooder = fed.client("greets-often", images=0)
    answers = [flooder.join(IMAGES).reason for _ in range(2000)]
    lines = sum(line.get("client") == flooder.name for line in fed.audit())
    report(14, "2000 greetings of one client do not fill the audit log", lines < 500,
           f"{lines} lines")
    report(14, "who calls too often is told so, and others are not",
           answers.count("busy") > 200 and client.join(0).code == "OK",
           f"{answers.count('busy')} of {len(answers)}")
    wait_until("a call that is let in", lambda: flooder.leave().code == "OK", 30)
    flooder.close()

    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    half = plain_connection(fed.address)
    half.sendall(hello)
    silent = plain_connection(fed.address)
    slow = plain_connection(fed.address)
    rest = iter(hello + bytes(1000))
    limit = HANDSHAKE + 5
    report(15, f"half a handshake is cut after {HANDSHAKE} s", closed_within(half, limit), "open")
    report(15, "a connection that says nothing is cut", closed_within(silent, limit), "open")
    report(15, "a handshake of one byte per second is cut",
           closed_within(slow, limit, lambda: slow.send(bytes([next(rest)]))), "open")
    for each in (half, silent, slow):
        each.close()
    wanted = {"handshake", "connections"} if fed.limit else {"handshake"}
    seen = lambda: wanted <= reasons(fed)
    with contextlib.suppress(RuntimeError):
        wait_until("lines", seen, 10)
    report(14, "refused connections and failed handshakes are in the audit log", seen(),
           reasons(fed))


def open_calls(connection, count):
    """Calls without a message, as long as the connection lasts."""
    headers = http2.call_headers("Join")
    for first in range(1, 2 * count, 200):
        if not connection.send(b"".join(http2.frame(http2.HEADERS, http2.END_HEADERS, number, headers)
                                        for number in range(first, first + 200, 2))):
            return


def attack_http2(fed, client, plan):
    def alive():
        return fed.answers(client, 10)

    # A download whose reader opens no window: nothing can be sent to it.
    zero = struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)
    connection = http2.Connection(fed.address, client.kit, settings=zero)
    request = pb.DownloadRequest(run=client.run, round=plan.round).SerializeToString()
    connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers("Download")) +
                    http2.frame(http2.DATA, http2.END_STREAM, 1, http2.message(request)))
    over = lambda seen: any(kind in (http2.RST, http2.GOAWAY) for kind, *_ in seen)
    start = time.monotonic()
    seen = connection.frames(4 * RATE_WINDOW + 10, over)
    took = time.monotonic() - start
    data = sum(len(payload) for kind, _, _, payload in seen if kind == http2.DATA)
    report(15, "a download that nobody reads is cut",
           (over(seen) or connection.closed) and data == 0,
           f"frames {[kind for kind, *_ in seen]} after {took:.0f} s")
    connection.close()

    connection = http2.Connection(fed.address, client.kit)
    calm = False
    for _ in range(100):
        if not connection.send(http2.frame(http2.PING, 0, 0, b"12345678") * 100):
            break
        seen = connection.frames(0.02)
        calm = calm or any(kind == http2.GOAWAY and http2.error_of(payload, 4) == http2.CALM
                           for kind, _, _, payload in seen)
        if calm or connection.closed:
            break
    if not calm:
        calm = any(kind == http2.GOAWAY and http2.error_of(payload, 4) == http2.CALM
                   for kind, _, _, payload in connection.frames(5))
    report(16, "a flood of pings ends the connection, and for that reason", calm and alive(), "it lives on")
    connection.close()

    # A call without its message stays open: beyond server.max_streams the connection ends, once its client has
    # acknowledged that limit. One that never does: staying.py.
    connection = http2.Connection(fed.address, client.kit)
    fed.server.forget_peak()
    open_calls(connection, 4000)
    connection.frames(3)
    grown = fed.server.grown()
    report(16, "thousands of streams on one connection end it", connection.closed and grown < 16 and alive(),
           f"{grown:.0f} MB more")
    connection.close()

    request = http2.message(pb.PlanRequest(run=client.run).SerializeToString())
    # Opened and reset at once, so that no limit on open ones counts.
    connection = http2.Connection(fed.address, client.kit)
    headers = http2.call_headers("WaitForPlan")
    number = 1
    fed.server.forget_peak()
    for _ in range(100):
        block = b""
        for _ in range(100):
            block += http2.frame(http2.HEADERS, http2.END_HEADERS, number, headers) + \
                http2.frame(http2.DATA, http2.END_STREAM, number, request) + \
                http2.frame(http2.RST, 0, number, struct.pack(">I", 8))
            number += 2
        if not connection.send(block):
            break
    connection.close()
    grown = fed.server.grown()
    report(16, "ten thousand streams that are reset at once cost little", alive() and grown < 64,
           f"{grown:.0f} MB more")

    outcome = client.join(0, metadata=[("x-huge", "x" * (1 << 20))])
    report(16, "metadata of 1 MB", outcome.code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL")
           and alive(), outcome)
    # By those who have not called too often: "busy" has the same code.
    outcome = client.join(0, metadata=[("x-huge", "x" * 10000)])
    report(16, "metadata of 10 KB", outcome.code == "RESOURCE_EXHAUSTED" and not outcome.reason, outcome)
    # After such floods gRPC may have closed an idle connection for its memory; the next one is made by itself.
    fed.answers(client)
    client.plan()
    outcome = client.join(0, metadata=[("x-large", "x" * 7000)])
    report(16, "metadata of 7 KB is let in", outcome.code == "OK", outcome)

    # Headers that do not end. gRPC 1.51 may keep them all (CVE-2023-33953): as much as came before the connection was cut,
    # and as much again while its memory grows. Calls before them do not buy more (so few that their replies fit the window).
    filler = http2.literal("x-more", "y" * 4000) * 4
    endless = b"\x00" + http2.prefixed("x-more") + http2.length_of(1 << 30)
    for what, calls, start, piece in [("many headers", 0, b"", filler), ("one header of 1 GB", 0, endless, b"y" * 16000),
                                      ("one header of 1 GB after 30 calls", 30, endless, b"y" * 16000)]:
        connection = http2.Connection(fed.address, client.kit)
        request = http2.message(pb.JoinRequest(protocol=2, version="test").SerializeToString())
        for number in range(1, 2 * calls, 2):
            connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, number, http2.call_headers("Join")) +
                            http2.frame(http2.DATA, http2.END_STREAM, number, request))
            connection.frames(0.02)
        usable = not connection.closed
        fed.server.forget_peak()
        connection.send(http2.frame(http2.HEADERS, 0, 2 * calls + 1, http2.call_headers("Join") + start))
        sent, end = 0, time.monotonic() + 60
        while sent < 256 << 20 and time.monotonic() < end and \
                connection.send(http2.frame(http2.CONTINUATION, 0, 2 * calls + 1, piece) * 16):
            sent += 16 * len(piece)
        grown = fed.server.grown()
        report(16, f"{what}: cut after {sent >> 20} MB, which cost {grown:.0f}",
               usable and connection.closed and sent < 128 << 20 and grown < 192 and fed.answers(client, 10),
               "not cut, or it cost too much")
        connection.close()

    # What is no protobuf.
    garbage = client.channel.stream_unary("/kindred.v1.Federation/Upload",
                                          request_serializer=bytes, response_deserializer=bytes)
    outcome = outcome_of(lambda: garbage(iter([os.urandom(1000)]), timeout=20))
    report(5, "a message that is no message", outcome.code not in ("OK", "DEADLINE_EXCEEDED")
           and alive(), outcome)
    unary = client.channel.unary_unary("/kindred.v1.Federation/Join", request_serializer=bytes,
                                       response_deserializer=bytes)
    outcome = outcome_of(lambda: unary(b"\xff" * 1000, timeout=20))
    report(5, "a greeting that is no message", outcome.code not in ("OK", "DEADLINE_EXCEEDED")
           and alive(), outcome)
