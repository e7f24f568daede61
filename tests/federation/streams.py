"""Attacks by uploads: their streams, their rounds, and what was sent before."""
import concurrent.futures
import time

from federation import RATE_WINDOW, STATE, STRIKE, report
from programs import wait_until
from updates import Update
from wire import CHUNK, Client, grpc, parts_of, pb, read_kept, seal


def attack_streams(fed, template, take, plan, model):
    def fresh():
        client = take()
        update = Update(template, client, plan, model)
        begin = seal(update.header, bytes(update.data))
        return client, update, begin

    client, update, begin = fresh()
    spoilt = bytes(update.data[:-4]) + b"\1\2\3\4"
    outcome = client.send(parts_of(begin, spoilt))
    fed.expect(9, "bytes that do not have the digest of the header", client, outcome, STRIKE,
               "digest")

    client, update, begin = fresh()
    outcome = client.send(parts_of(begin, bytes(update.data) + bytes(8), chunk=len(model) + 8))
    fed.expect(7, "more bytes than the header says, in one message", client, outcome, STRIKE,
               "size")

    client, update, begin = fresh()
    sent = 0

    def endless():
        nonlocal sent
        yield pb.UploadPart(begin=begin)
        yield pb.UploadPart(data=bytes(update.data[:-1]))  # one byte is missing, then
        while sent < 1 << 30:
            sent += CHUNK
            yield pb.UploadPart(data=bytes(CHUNK))
    outcome = client.send(endless())
    fed.expect(7, "an endless stream", client, outcome, STRIKE, "size")
    if sent > 64 << 20:
        report(7, "an endless stream is cut soon", False, f"{sent >> 20} MB were taken")

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(data=bytes(8 << 20))])
    report(7, "a message of 8 MiB", outcome.code == "RESOURCE_EXHAUSTED" and fed.answers(client),
           outcome)

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(begin=begin)])
    fed.expect(7, "a header after the header", client, outcome, STRIKE, "size")

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(data=b"1234")])
    report(7, "bytes without a header",
           outcome.code == STRIKE and outcome.reason == "manifest", outcome)

    client, update, begin = fresh()
    outcome = client.send(parts_of(begin, bytes(update.data[:1000])))
    report(7, "a stream that ends early is no update",
           outcome.code == "ABORTED" and fed.answers(client), outcome)

    def byte_by_byte():
        yield pb.UploadPart(begin=begin)
        for byte in update.data[:200]:
            time.sleep(0.2)
            yield pb.UploadPart(data=bytes([byte]))

    def silent():
        yield pb.UploadPart(begin=begin)
        time.sleep(20)

    def nothing():
        time.sleep(20)
        yield pb.UploadPart(begin=begin)

    def empty():
        yield pb.UploadPart(begin=begin)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            time.sleep(0.01)
            yield pb.UploadPart(data=b"")

    for what, parts in [("byte by byte", byte_by_byte), ("a header and then nothing", silent),
                        ("a stream without a message", nothing),
                        ("messages without bytes", empty)]:
        client, update, begin = fresh()
        start = time.monotonic()
        outcome = client.send(parts(), seconds=40)
        took = time.monotonic() - start
        cut = outcome.code in ("CANCELLED", "ABORTED") and took < 3 * RATE_WINDOW + 5
        report(7, f"{what}: cut after {RATE_WINDOW} s", cut and fed.answers(client),
               f"{outcome} after {took:.1f} s")
    told = [line for line in fed.audit() if line["event"] not in ("join", "leave")
            and line.get("client") == client.name]
    report(7, "a transfer that was cut leaves a line in audit.jsonl", bool(told), "none")

    # Many streams bring one upload, whose bytes are wrong at the end.
    client, update, begin = fresh()
    spoilt = bytes(update.data[:-4]) + b"\1\2\3\4"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: client.send(parts_of(begin, spoilt, 4096)), range(16)))
    reasons = [outcome.reason for outcome in outcomes]
    report(9, "sixteen streams of one upload at once: one is looked at, the others are told",
           reasons.count("digest") == 1 and fed.answers(client) and
           set(reasons) <= {"digest", "busy", "offset", "refused", "round"}, reasons)

    # 64 MB of zeros in some 64 KB.
    client, update, begin = fresh()
    fed.server.forget_peak()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(data=bytes(64 << 20))],
                          compression=grpc.Compression.Gzip)
    grown = fed.server.grown()
    report(8, "a compression bomb", outcome.code in ("UNIMPLEMENTED", "INTERNAL") and grown < 32
           and fed.answers(client), f"{outcome}, {grown:.0f} MB more")
    outcome = client.call("Join", pb.JoinRequest(protocol=2), compression=grpc.Compression.Gzip)
    report(8, "a compressed greeting", outcome.code in ("UNIMPLEMENTED", "INTERNAL"), outcome)


def attack_rounds(fed, template, take, plan, model):
    """Other rounds than the one that is on."""
    client = take()
    for what, number in [("an earlier", plan.round - 1), ("a later", plan.round + 1),
                         ("the last possible", 2**32 - 1)]:
        update = Update(template, client, plan, model)
        update.header.key.round = number
        fed.expect(10, f"an update for {what} round", client,
                   client.upload(update.header, bytes(update.data)), STATE, "round")
        fed.expect(10, f"the model of {what} round", client, client.download(number), STATE,
                   "round")
    update = Update(template, client, plan, model)
    update.header.nonce = bytes(16)
    fed.expect(11, "an update without the round's nonce", client,
               client.upload(update.header, bytes(update.data)), STATE, "nonce")
    outcome = client.upload(Update(template, client, plan, model).header, b"", offset=1 << 40)
    report(6, "an upload that goes on where nothing is",
           outcome.code == STATE and outcome.reason == "offset", outcome)
    outcome = client.download(plan.round, offset=1 << 63)
    report(6, "a download from beyond the end",
           outcome.code == STATE and outcome.reason == "offset", outcome)
    # A path as an id: the header alone must be refused, before a byte is taken.
    client = take()
    update = Update(template, client, plan, model)
    update.header.key.id = "../../../tmp/x"
    fed.expect(25, "a path as an upload's id", client, client.upload(update.header, b""), STRIKE,
               "manifest")


def attack_acknowledged(fed, plan):
    """What an honest client has sent comes again, by its own certificate."""
    name = fed.honest_names[2]
    wait_until(f"the update of {name}", lambda: fed.accepted(plan.round, [name]), 120)
    client = Client(fed.address, fed.folder.path / f"kit-{name}", name)
    client.run = client.join(0).reply.run
    kept = fed.folder.path / f"joined-{name}" / "state" / client.run
    header, data, upload_id = read_kept(kept / f"round-{plan.round}.kept")
    header.key.run, header.key.round, header.key.id = client.run, plan.round, upload_id
    header.nonce = plan.nonce
    outcome = client.upload(header, data)
    report(9, "the same upload again is acknowledged",
           outcome.code == "OK" and outcome.reply.accepted, outcome)
    header.key.id = "another"
    fed.expect(9, "another upload of the same round", client, client.upload(header, data),
               "ALREADY_EXISTS", "duplicate")
    fed.expect(9, "another upload, of NaNs", client, client.upload(header, b"\xff" * len(data)),
               "ALREADY_EXISTS", "duplicate")
    client.close()
    return header, data, upload_id
