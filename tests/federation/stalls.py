"""Attacks by those who are slow or silent, and by headers that grow in memory."""
import threading
import time

from federation import CLIENTS, RATE_WINDOW, Federation, report
from programs import Folder, wait_until
from updates import Update
from wire import outcome_of, pb, read_kept, seal


def attack_by_trickling(kindred):
    """An upload that is just fast enough takes the room that the others wait for."""
    deadline = 12
    with Folder(kindred, "trickle") as folder:
        # What updates look like, from a run without anybody else.
        own = Federation(folder, "h", 1, server__linger=1)
        own.serve()
        own.join()
        own.finish(120)
        kept = next((folder.path / f"joined-{own.honest_names[0]}").rglob("round-0.kept"))
        template, _, _ = read_kept(kept)
        fed = Federation(folder, "t", 1, server__deadline=deadline, server__upload_memory=1,
                         server__rate_window=RATE_WINDOW, server__linger=5)
        fed.issue("trickles")
        fed.serve()
        client = fed.client("trickles")
        fed.join()
        plan = client.plan_of(0)
        update = Update(template, client, plan, client.download(0).reply)
        begin = seal(update.header, bytes(update.data))
        stop = threading.Event()

        def parts():
            yield pb.UploadPart(begin=begin)
            for at in range(0, len(update.data), 1024):
                if stop.wait(0.2):
                    return
                yield pb.UploadPart(data=bytes(update.data[at:at + 1024]))
        ends = []
        thread = threading.Thread(target=lambda: ends.append(client.send(parts(), seconds=600)))
        thread.start()
        start, limit = time.monotonic(), 3 * deadline
        try:
            wait_until("updates", lambda: fed.accepted(0, fed.honest_names), limit)
            report(15, f"others send while one trickles ({time.monotonic() - start:.0f} s)", True)
        except RuntimeError:
            report(15, "others send while one trickles", False,
                   f"not in {limit} s, the deadline being {deadline} s")
        stop.set()
        thread.join()
        told = any(line.get("reason") == "slow" for line in fed.audit())
        report(15, "who trickles is cut, which the audit log has",
               ends[0].code == "CANCELLED" and told, f"{ends[0]}, {told}")
        client.close()


def attack_by_stalling(kindred):
    print("\ndrop-outs, and memory that a header can cost\n", flush=True)
    deadline = 12
    with Folder(kindred, "stalls") as folder:
        # There is room for one update at a time.
        fed = Federation(folder, "s", 4, server__patience=600, server__poll=1, server__linger=5,
                         server__deadline=deadline, server__rate_window=RATE_WINDOW,
                         server__upload_memory=1)
        names = ("drops-out", "keeps-asking", "bloats")
        for name in names:
            fed.issue(name)
        fed.serve()
        silent, asking, bloats = (fed.client(name) for name in names)
        fed.join()
        for client in (silent, asking, bloats):
            client.plan_of(0)
        run = bloats.run

        # Two bytes on the wire are a hundred in memory.
        fed.server.forget_peak()
        many = pb.UploadPart(begin=pb.UploadBegin(header=pb.UploadHeader(
            key=pb.UploadKey(run=run, round=0, id="x"))))
        many.begin.header.tensors.extend([pb.TensorPlace()] * 900000)
        raw = many.SerializeToString()
        del many
        outcomes = []

        def send():
            call = bloats.channel.stream_unary("/kindred.v1.Federation/Upload",
                                               request_serializer=bytes,
                                               response_deserializer=bytes)
            outcomes.append(outcome_of(lambda: call(iter([raw]), timeout=60)))
        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        grown = fed.server.grown()
        report(6, f"a header of 900000 tensors on 16 streams at once ({grown:.0f} MB more)",
               grown < 256 and fed.server.alive(), f"{outcomes[0]}")
        bloats.leave()

        # One takes the plan and is silent; one asks again and again and never trains. Neither may
        # make every round last until its deadline.
        stop = threading.Event()

        def ask():
            while not stop.is_set() and fed.server.alive():
                asking.plan(seconds=5)
                stop.wait(0.3)
        thread = threading.Thread(target=ask)
        thread.start()
        codes = fed.finish(4 * deadline + 90)
        stop.set()
        thread.join()
        report(17, "a run with drop-outs ends well", codes == [0] * (CLIENTS + 1), codes)
        missed = {}
        for line in fed.audit():
            if line["event"] == "miss":
                missed[line["client"]] = missed.get(line["client"], 0) + 1
        report(17, "one who is silent is waited for in two rounds at most",
               missed.get("drops-out", 0) == 2, missed)
        # Two, and one more because it called.
        report(17, "one who asks and never trains is waited for in three rounds at most",
               0 < missed.get("keeps-asking", 0) <= 3, missed)
        report(17, "no honest client missed a deadline",
               not any(name in missed for name in fed.honest_names), missed)
        folder.run("train", *fed.config, "--out", folder.path / "trained", seconds=300)
        served = folder.path / "s-served" / "summary.json"
        report(17, "the model is that of `kindred train`", served.exists() and
               folder.summary("s-served")["model_digest"] ==
               folder.summary("trained")["model_digest"], "another")
        for client in (silent, asking, bloats):
            client.close()
