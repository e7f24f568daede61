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


def plain_connection(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10)


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
    for _ in range(2000):
        client.join(IMAGES)
    lines = sum(line.get("client") == client.name for line in fed.audit())
    report(14, "2000 greetings of one client do not fill the audit log", lines < 500,
           f"{lines} lines")

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
        calm = calm or any(kind == http2.GOAWAY for kind, *_ in seen)
        if calm or connection.closed:
            break
    if not connection.closed:
        connection.frames(5)
    report(16, "a flood of pings ends the connection", (calm or connection.closed) and alive(),
           "it lives on")
    connection.close()

    # WaitForPlan under a run that is none: each is answered; thousands at once are too many.
    request = http2.message(pb.PlanRequest(run=client.run).SerializeToString())
    connection = http2.Connection(fed.address, client.kit)
    headers = http2.call_headers("Upload")
    before = fed.server.memory()
    for first in range(1, 8000, 200):
        block = b"".join(http2.frame(http2.HEADERS, http2.END_HEADERS, number, headers)
                         for number in range(first, first + 200, 2))
        if not connection.send(block):
            break
    seen = connection.frames(3, over)
    report(16, "thousands of streams on one connection are refused",
           # Beyond two uploads of a client each stream is answered and reset; or all are cut.
           (over(seen) or connection.closed or any(kind == http2.RST for kind, *_ in seen))
           and alive() and fed.server.memory() < before + 128,
           f"frames {[kind for kind, *_ in seen][:20]}, {fed.server.memory() - before:.0f} MB more")
    connection.close()

    # Opened and reset at once, so that no limit on open ones counts.
    connection = http2.Connection(fed.address, client.kit)
    headers = http2.call_headers("WaitForPlan")
    before, number = fed.server.memory(), 1
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
    grown = fed.server.memory() - before
    report(16, "ten thousand streams that are reset at once cost little", alive() and grown < 64,
           f"{grown:.0f} MB more")

    outcome = client.join(0, metadata=[("x-huge", "x" * (1 << 20))])
    report(16, "metadata of 1 MB", outcome.code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL")
           and alive(), outcome)
    outcome = client.join(0, metadata=[("x-huge", "x" * 10000)])
    report(16, "metadata of 10 KB", outcome.code == "RESOURCE_EXHAUSTED", outcome)

    # Headers that do not end: gRPC 1.51 keeps what one connection has sent, so 16 MB cost about so much, and twice while
    # its memory grows. That it does not cut them is a weakness.
    connection = http2.Connection(fed.address, client.kit)
    before = fed.server.memory()
    connection.send(http2.frame(http2.HEADERS, 0, 1, http2.call_headers("Join")))
    line = http2.literal("x-more", "y" * 4000)
    for _ in range(1000):
        if not connection.send(http2.frame(http2.CONTINUATION, 0, 1, line * 4)):
            break
    grown = fed.server.memory() - before
    report(16, "16 MB of headers that do not end cost less than 48 MB", alive() and grown < 48, f"{grown:.0f} MB more")
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
