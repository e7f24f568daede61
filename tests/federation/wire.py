"""The wire as a hostile client speaks it: calls under any certificate, uploads of any content."""
import hashlib
import importlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

os.environ["GRPC_VERBOSITY"] = "NONE"  # of this process; it is to read its results
import grpc  # noqa: E402
import xxhash  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CHUNK = 1 << 20


def make_stubs():
    """Generates the messages from federation.proto into a temporary folder and loads them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["protoc", "-I", str(SOURCE / "src" / "wire"), f"--python_out={folder}",
             f"--grpc_python_out={folder}",
             "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin", "federation.proto"],
            check=True)
        sys.path.insert(0, folder)
        try:
            return (importlib.import_module("federation_pb2"),
                    importlib.import_module("federation_pb2_grpc"))
        finally:
            sys.path.remove(folder)


pb, pb_grpc = make_stubs()


class Outcome:
    """How a call ended."""

    def __init__(self, code, reason="", detail="", reply=None):
        self.code, self.reason, self.detail, self.reply = code, reason, detail, reply

    def __str__(self):
        return f"{self.code} {self.reason or '-'} ({self.detail[:90]})"


def outcome_of(call):
    try:
        return Outcome("OK", reply=call())
    except grpc.RpcError as error:
        trailer = dict(error.trailing_metadata() or ())
        return Outcome(error.code().name, trailer.get("kindred-reason", ""), error.details() or "")


def dial(address, ca=None, key=None, certificate=None, of=grpc):
    """A connection of its own. ca, key and certificate are PEM bytes; without key no certificate is shown. of: grpc.aio
    for one of asyncio."""
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return of.secure_channel(address, credentials, options=[
        ("grpc.ssl_target_name_override", "kindred-coordinator"),
        ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0),
        ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
        ("grpc.max_metadata_size", 1 << 24)])


class Client:
    """One identity. A call gives an Outcome."""

    def __init__(self, address, kit, name=""):
        self.name, self.kit, self.address, self.run = name, pathlib.Path(kit), address, ""
        read = lambda file: (self.kit / file).read_bytes()
        self.channel = dial(address, read("ca.crt"), read("client.key"), read("client.crt"))
        self.stub = pb_grpc.FederationStub(self.channel)

    def close(self):
        self.channel.close()

    def call(self, method, request, seconds=30, **more):
        return outcome_of(lambda: getattr(self.stub, method)(request, timeout=seconds, **more))

    def join(self, images, protocol=2, seconds=30, **more):
        outcome = self.call("Join", pb.JoinRequest(protocol=protocol, version="test",
                                                   images=images), seconds, **more)
        if outcome.code == "OK":
            self.run = outcome.reply.run
        return outcome

    def plan(self, run=None, seconds=60):
        return self.call("WaitForPlan", pb.PlanRequest(run=self.run if run is None else run),
                         seconds)

    def plan_of(self, number, seconds=120):
        """The plan of a round, once it is on."""
        for _ in range(int(seconds)):
            outcome = self.plan()
            if outcome.code != "OK":
                raise RuntimeError(f"{self.name}: no plan: {outcome}")
            if outcome.reply.state == pb.PlanReply.TRAIN and outcome.reply.round == number:
                return outcome.reply
        raise RuntimeError(f"{self.name}: round {number} does not come")

    def download(self, round_number, remote=False, offset=0):
        request = pb.DownloadRequest(run=self.run, round=round_number, offset=offset,
                                     what=pb.DownloadRequest.REMOTE if remote else 0)
        return outcome_of(lambda: b"".join(
            chunk.data for chunk in self.stub.Download(request, timeout=60)))

    def leave(self):
        return self.call("Leave", pb.LeaveRequest(run=self.run))

    def upload(self, header, data=b"", digest=None, offset=0, seconds=60, **more):
        begin = seal(header, data)
        begin.offset = offset
        begin.digest = digest or begin.digest
        return self.send(parts_of(begin, data), seconds, **more)

    def send(self, parts, seconds=60, **more):
        return outcome_of(lambda: self.stub.Upload(iter(parts), timeout=seconds, **more))


def parts_of(begin, data, chunk=CHUNK):
    yield pb.UploadPart(begin=begin)
    for at in range(0, len(data), chunk):
        yield pb.UploadPart(data=data[at:at + chunk])


def bytes_digest(data):
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def seal(header, data):
    """How an upload of these bytes begins; the header gets their checksum."""
    header.checksum = xxhash.xxh3_128(data).hexdigest()
    return pb.UploadBegin(header=header, digest=digest_of(header))


def digest_of(header):
    """BLAKE2b of the header, as DigestOf in wire/upload_header.cc has it."""
    state = hashlib.blake2b(digest_size=32)

    def number(value):
        state.update(struct.pack("<Q", value & (1 << 64) - 1))

    def text(value):
        value = value.encode() if isinstance(value, str) else value
        number(len(value))
        state.update(value)

    bits = lambda value: struct.unpack("<q", struct.pack("<d", value))[0]
    text("kindred upload 1")
    text(header.key.run)
    number(header.key.round)
    text(header.key.id)
    text(header.nonce)
    number(len(header.tensors))
    for place in header.tensors:
        text(place.name)
        text(place.kind)
        number(len(place.shape))
        for size in place.shape:
            number(size)
        number(place.offset)
        number(place.bytes)
    number(header.feature_rows)
    number(header.images)
    number(bits(header.loss))
    number(header.steps)
    number(header.seen)
    for name in sorted(header.metrics):
        text(name)
        number(bits(header.metrics[name]))
    number(header.bytes)
    text(header.checksum)
    return state.hexdigest()


def read_kept(path):
    """Header and bytes of the update in a client's round-N.kept, and the upload's id."""
    content, parts, at = path.read_bytes(), [], 0
    for _ in range(3):
        size = struct.unpack_from("<Q", content, at)[0]
        parts.append(content[at + 8:at + 8 + size])
        at += 8 + size
    return pb.UploadHeader.FromString(parts[1]), parts[2], json.loads(parts[0])["upload"]
