"""A hostile coordinator with a sound certificate, and what `kindred join` makes of it."""
import base64
import concurrent.futures
import json
import os
import re
import struct
import time

import numpy

from programs import TINY, Folder, free_port, sets
from wire import CHUNK, Client, bytes_digest, grpc, pb, pb_grpc, read_kept

IMAGES = 32
WIDTH = 128
PATIENCE = 4  # seconds, of the clients here
CANARY = "canary-path-7f3a"  # the client's folders have it in their names


class Fake(pb_grpc.FederationServicer):
    """Answers as a coordinator does that has one round to train, until it is told otherwise."""

    def __init__(self, offer, model):
        self.offer, self.model = pb.JoinReply.FromString(offer), model
        self.plan = pb.PlanReply(state=pb.PlanReply.TRAIN, round=0, lr=0.01, nonce=bytes(16),
                                 model_digest=bytes_digest(model), model_bytes=len(model))
        self.remote = b""
        self.uploads, self.calls, self.texts = 0, [], []
        self.endless = self.silent = self.huge = False
        self.received = 0  # what it says to have of an upload
        self.busy = 0  # seconds from the first upload on that it has no room

    def use_model(self, model):
        self.model = bytes(model)
        self.plan.model_digest, self.plan.model_bytes = bytes_digest(self.model), len(self.model)

    def use_remote(self, rows):
        self.remote = numpy.ascontiguousarray(rows, numpy.float32).tobytes()
        self.plan.remote_rows, self.plan.remote_bytes = len(rows), len(self.remote)
        self.plan.remote_digest = bytes_digest(self.remote)

    def set(self, key, value):
        """Replaces a setting, or adds it."""
        rest = [each for each in self.offer.settings if not each.startswith(key + " = ")]
        self.offer.settings[:] = rest + [f"{key} = {value}"]

    def note(self, name, request):
        self.calls.append(name)
        self.texts.append(request.SerializeToString())

    def Join(self, request, context):
        self.note("Join", request)
        return self.offer

    def WaitForPlan(self, request, context):
        self.note("WaitForPlan", request)
        while self.silent and context.is_active():
            time.sleep(0.1)
        return self.plan

    def Download(self, request, context):
        self.note("Download", request)
        content = self.remote if request.what == pb.DownloadRequest.REMOTE else self.model
        if self.huge:
            yield pb.Chunk(data=bytes(8 << 20))
        while self.endless and context.is_active():
            yield pb.Chunk(data=bytes(CHUNK))
        for at in range(request.offset, len(content), CHUNK):
            yield pb.Chunk(data=content[at:at + CHUNK])

    def UploadStatus(self, request, context):
        self.note("UploadStatus", request)
        return pb.UploadReply(received=self.received)

    def Upload(self, parts, context):
        self.first_upload = getattr(self, "first_upload", time.monotonic())
        if time.monotonic() < self.first_upload + self.busy:
            context.set_trailing_metadata((("kindred-reason", "busy"),))
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy: no room")
        self.uploads += 1
        context.send_initial_metadata(())  # there is room
        for _ in parts:
            pass
        return pb.UploadReply(accepted=True)

    def Leave(self, request, context):
        self.note("Leave", request)
        return pb.LeaveReply()


def spoil_floats(fake, template, ending, value):
    model = bytearray(fake.model)
    place = next(place for place in template.tensors
                 if place.name.endswith(ending) and place.kind == "F32")
    struct.pack_into("<f", model, place.offset, value)
    fake.use_model(model)


def unit(count):
    rows = numpy.random.default_rng(2).normal(size=(count, WIDTH)).astype(numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def spoiled_rows(value):
    rows = unit(40)
    rows[7, 7] = value
    return rows


def field(message, name, value):
    setattr(message, name, value)


# What, and how the coordinator is made hostile. The client ends with exit code 4 and one line.
ATTACKS = [
    ("a model with NaN", lambda f, t: spoil_floats(f, t, "weight", float("nan"))),
    ("a model with infinity", lambda f, t: spoil_floats(f, t, "weight", float("inf"))),
    ("a negative running variance", lambda f, t: spoil_floats(f, t, "running_var", -1e-30)),
    ("a running variance of 0", lambda f, t: spoil_floats(f, t, "running_var", 0.0)),
    ("a model of another size", lambda f, t: f.use_model(f.model + bytes(4))),
    ("a model of 2^63 bytes", lambda f, t: field(f.plan, "model_bytes", 1 << 63)),
    ("a model without its digest", lambda f, t: field(f.plan, "model_digest", "0" * 64)),
    ("an endless download", lambda f, t: field(f, "endless", True)),
    ("a message of 8 MiB", lambda f, t: field(f, "huge", True)),
    ("a million epochs", lambda f, t: f.set("train.epochs", 1000000)),
    ("a thousand epochs, which the program can but the client does not want",
     lambda f, t: f.set("train.epochs", 1000)),
    ("a local bank of a million rows", lambda f, t: f.set("ccl.bank", 1 << 20)),
    ("a batch of a million", lambda f, t: f.set("train.batch", 1000000)),
    ("a network of width 4096", lambda f, t: f.set("model.width", 4096)),
    ("features of width 100 million", lambda f, t: f.set("model.dim", 100000000)),
    ("a local bank of a billion rows", lambda f, t: f.set("ccl.bank", 1000000000)),
    ("four billion rounds", lambda f, t: field(f.offer, "rounds", 4000000000)),
    ("no rounds, and a round to train", lambda f, t: field(f.offer, "rounds", 0)),
    ("a round after the last", lambda f, t: field(f.plan, "round", 1000)),
    ("a learning rate of NaN", lambda f, t: field(f.plan, "lr", float("nan"))),
    ("a learning rate of 1e30", lambda f, t: field(f.plan, "lr", 1e30)),
    ("features of plain images", lambda f, t: f.set("privacy.features", '"plain"')),
    ("encodings of one image", lambda f, t: f.set("privacy.mix", 1)),
    ("another dataset path", lambda f, t: f.set("data.path", '"/etc"')),
    ("a path that public images come from", lambda f, t: f.set("fedca.public_path", '"/etc"')),
    ("another key", lambda f, t: f.set("client.key", '"seeded"')),
    ("larger limits of the client", lambda f, t: f.set("client.max_epochs", 1000000)),
    ("another partition", lambda f, t: f.set("partition.scheme", '"noniid1"')),
    ("a setting that there is not", lambda f, t: f.set("train.nonsense", 1)),
    ("a setting that is no number", lambda f, t: f.set("train.epochs", "{")),
    ("100000 settings", lambda f, t: f.offer.settings.extend(["train.epochs = 1"] * 100000)),
    ("a run that is a path", lambda f, t: field(f.offer, "run", "../../../tmp/x")),
    ("a place of 2^32 - 1", lambda f, t: field(f.offer, "client", 2**32 - 1)),
    ("another manifest", lambda f, t: field(f.offer, "manifest_hash", "0" * 64)),
    ("images of 4096 pixels a side", lambda f, t: field(f.offer, "input", json.dumps(
        json.loads(f.offer.input) | {"height": 4096, "width": 4096}))),
    ("images of another kind", lambda f, t: field(f.offer, "input", "nonsense")),
    ("remote features with NaN", lambda f, t: f.use_remote(spoiled_rows(float("nan")))),
    ("remote features that are not unit", lambda f, t: f.use_remote(1000 * unit(40))),
    ("remote features of zeros", lambda f, t: f.use_remote(0 * unit(40))),
    ("remote features of 2^60 rows", lambda f, t: (field(f.plan, "remote_rows", 1 << 60),
                                          field(f.plan, "remote_bytes", 1 << 63))),
    ("a trained model with NaN", lambda f, t: (spoil_floats(f, t, "weight", float("nan")),
                                               field(f.plan, "state", pb.PlanReply.FINISHED))),
]


class Served:
    """The fake one, listening; ends with the block."""

    def __init__(self, fake, address, key, certificate, ca):
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), options=[
            ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)])
        pb_grpc.add_FederationServicer_to_server(fake, self.server)
        credentials = grpc.ssl_server_credentials([(key, certificate)], ca, True)
        if self.server.add_secure_port(address, credentials) == 0:
            raise RuntimeError(f"{address} is taken")

    def __enter__(self):
        self.server.start()

    def __exit__(self, *_):
        self.server.stop(0).wait()


def record(folder, address):
    """What a sound coordinator says to an enrolled client: its greeting, its model, a header."""
    config = ["--config", TINY, *sets(partition__scheme="iid", partition__clients=3,
                                      data__limit=96, train__rounds=2, server__min_clients=2,
                                      server__linger=1)]
    server = folder.start("sound.log", "serve", *config, "--listen", address, "--pki",
                          folder.path / "pki", "--out", folder.path / "sound")
    server.after("listening on ")
    honest = folder.start("honest.log", "join", "--kit", folder.path / "kit-honest", *config, *sets(
        client__share="0/3", client__key="seeded"), "--out", folder.path / "honest")
    client = Client(address, folder.path / f"kit-{CANARY}")
    offer = client.join(IMAGES).reply
    model = client.download(client.plan_of(0).round).reply
    state = folder.path / "honest" / "state" / offer.run / "round-0.kept"
    while not state.exists() and honest.alive():
        time.sleep(0.1)
    template, _, _ = read_kept(state)
    client.close()
    honest.end()
    server.end()
    return offer.SerializeToString(), model, template


def join_words(folder, name):
    return ["join", "--kit", folder.path / f"kit-{CANARY}", "--config", TINY,
            *sets(partition__scheme="iid", partition__clients=3, data__limit=96,
                  client__share="1/3", client__patience=PATIENCE, train__workers=1),
            "--out", folder.path / CANARY / name]


def attack_clients(kindred, report, only=""):
    with Folder(kindred, "hostile") as folder:
        address = f"127.0.0.1:{free_port()}"
        folder.run("pki", "init", "--out", folder.path / "pki")
        folder.issue("honest", address)
        folder.issue(CANARY, address)
        offer, model, template = record(folder, address)
        pki = folder.path / "pki"
        read = lambda path: path.read_bytes()
        ca = read(pki / "authority" / "ca.crt")
        sound = tuple(read(pki / "coordinator" / name) for name in ("server.key", "server.crt"))
        texts = []

        for number, (what, spoil) in enumerate(ATTACKS):
            if only and only not in what:
                continue
            fake = Fake(offer, model)
            spoil(fake, template)
            with Served(fake, address, *sound, ca):
                program = folder.start(f"hostile-{number}.log", *join_words(folder, str(number)))
                code, end = None, time.monotonic() + 60
                while code is None and time.monotonic() < end and fake.uploads == 0:
                    code = program.wait(0.2)
                memory = program.memory()
                program.end()
            errors = re.findall(r"error.*", program.text())
            good = code == 4 and len(errors) == 1 and fake.uploads == 0
            report(24, what, good, f"exit code {code}, {fake.uploads} uploads, {memory:.0f} MB, "
                   f"{errors or program.text()[-200:]}")
            texts += fake.texts
        if any((folder.path / CANARY).rglob("*.safetensors")) and not only:
            report(24, "no model of a hostile coordinator is kept", False, "one is")

        # The fake one as it would be without an attack: so that the others mean something.
        fake = Fake(offer, model)
        with Served(fake, address, *sound, ca):
            program = folder.start("fine.log", *join_words(folder, "fine"))
            end = time.monotonic() + 60
            while fake.uploads == 0 and program.alive() and time.monotonic() < end:
                time.sleep(0.1)
            first = fake.uploads
            time.sleep(5)
            again = fake.uploads - first
            program.process.terminate()
            code = program.wait(20)
            program.end()
        report(24, "the same plan again and again does not make a client flood", again < 20,
               f"{again} uploads in 5 s")
        report(24, "a coordinator that is not hostile gets its update; told to stop, a client stops",
               first > 0 and code == 130, f"{fake.uploads} uploads, exit code {code}, "
               f"{program.text()[-300:]}")
        texts += fake.texts

        # One that has no room for longer than a client's patience: it is there, and is waited for.
        fake = Fake(offer, model)
        fake.busy = 3 * PATIENCE
        with Served(fake, address, *sound, ca):
            program = folder.start("busy.log", *join_words(folder, "busy"))
            end = time.monotonic() + 90
            while fake.uploads == 0 and program.alive() and time.monotonic() < end:
                time.sleep(0.1)
            alive = program.alive()
            program.end()
        report(24, "a coordinator without room does not use up a client's patience",
               alive and fake.uploads > 0, f"{fake.uploads} uploads, {program.text()[-300:]}")

        # One that says to have more of an upload than there is.
        fake = Fake(offer, model)
        fake.received = 1 << 60
        with Served(fake, address, *sound, ca):
            program = folder.start("received.log", *join_words(folder, "received"))
            end = time.monotonic() + 60
            while fake.uploads == 0 and program.alive() and time.monotonic() < end:
                time.sleep(0.1)
            program.process.terminate()
            code = program.wait(20)
            program.end()
        report(24, "2^60 bytes of an upload are said to have come", code in (4, 130),
               f"exit code {code}, {program.text()[-300:]}")

        # One that never answers is waited for, and can be left.
        fake = Fake(offer, model)
        fake.silent = True
        with Served(fake, address, *sound, ca):
            program = folder.start("silent.log", *join_words(folder, "silent"))
            end = time.monotonic() + 30
            while "WaitForPlan" not in fake.calls and time.monotonic() < end:
                time.sleep(0.1)
            time.sleep(6)  # longer than client.patience: the call is under way
            waiting = program.alive()
            program.process.terminate()
            code = program.wait(20)
            program.end()
        report(24, "a coordinator that never answers is waited for",
               waiting and code == 130 and fake.uploads == 0,
               f"waiting: {waiting}, exit code {code}, {program.text()[-300:]}")

        # A client that poses as the coordinator, and a coordinator of another authority.
        folder.run("pki", "init", "--out", folder.path / "other")
        kit, other = folder.path / "kit-honest", folder.path / "other" / "coordinator"
        for what, key, certificate in [
                ("a client's certificate as the coordinator's", kit / "client.key", kit / "client.crt"),
                ("a coordinator of another authority", other / "server.key", other / "server.crt")]:
            fake = Fake(offer, model)
            with Served(fake, address, read(key), read(certificate), ca):
                program = folder.start("posing.log", *join_words(folder, "posing"))
                code = program.wait(60)
                program.end()
            report(24, what, code == 4 and not fake.calls, f"exit code {code}, {fake.calls}")

        look_for_secrets(folder, texts, report)


def look_for_secrets(folder, texts, report):
    """Neither a secret nor a path of the client's goes over the wire or into a log."""
    secrets = list((folder.path / CANARY).rglob("secret"))
    logs = [path for path in folder.path.rglob("*.log")]
    found = []
    for path in secrets:
        drawn = path.read_bytes()
        for form in (drawn, drawn.hex().encode(), base64.b64encode(drawn)):
            found += [f"{path.parent.parent.name}: in {log.name}" for log in logs
                      if form in log.read_bytes()]
            found += ["on the wire" for text in texts if form in text]
        if path.stat().st_mode & 0o77:
            found.append(f"mode {oct(path.stat().st_mode)}")
    report(27, f"none of {len(secrets)} secrets in logs or on the wire", secrets and not found, found)
    body = "".join((folder.path / f"kit-{CANARY}" / "client.key").read_text().splitlines()[1:-1])
    found = [log.name for log in logs if body[8:60].encode() in log.read_bytes()]
    report(27, "no key in a client's log", not found, found)
    found = [text[:80] for text in texts if CANARY.encode() in text
             or os.fsencode(folder.path) in text]
    report(27, "no path of the client on the wire", not found, found)
