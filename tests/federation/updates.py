"""Updates that cannot be: how each is spoilt, and the reason that it must be refused for."""
import struct

import numpy

from federation import IMAGES, STRIKE, report
from wire import pb


class Update:
    """An update that would be fine: the global model again, and no features. To be spoilt."""

    def __init__(self, template, client, plan, model):
        self.header = pb.UploadHeader()
        self.header.tensors.extend(template.tensors)
        self.header.key.run, self.header.key.round = client.run, plan.round
        self.header.key.id = "upload-of-" + client.name
        self.header.nonce = plan.nonce
        self.header.images = self.header.seen = IMAGES
        self.header.loss, self.header.steps = 1.0, 1
        self.data = bytearray(model)
        self.header.bytes = len(self.data)

    def place(self, ending, kind="F32"):
        """The place of the first tensor with such a name."""
        return next(place for place in self.header.tensors
                    if place.name.endswith(ending) and place.kind == kind)

    def floats(self):
        """All floats of all tensors, as (place, array) to be changed in place."""
        for place in self.header.tensors:
            if place.kind == "F32":
                yield place, numpy.frombuffer(self.data, numpy.float32,
                                              place.bytes // 4, place.offset)

    def set_float(self, ending, value):
        struct.pack_into("<f", self.data, self.place(ending).offset, value)

    def add_features(self, rows):
        self.header.feature_rows = len(rows)
        self.data += numpy.ascontiguousarray(rows, numpy.float32).tobytes()
        self.header.bytes = len(self.data)


def unit_rows(count, width=128, seed=1):
    rows = numpy.random.default_rng(seed).normal(size=(count, width)).astype(numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def scaled(factor):
    def spoil(update):
        for _, values in update.floats():
            values *= factor
    return spoil


def turned(update):
    for place, values in update.floats():
        if not place.name.endswith("running_var"):
            values *= -1


def filled(draw):
    def spoil(update):
        for place, values in update.floats():
            values[:] = numpy.abs(draw(values.size)) + 0.1 if place.name.endswith("running_var") \
                else draw(values.size)
    return spoil


def with_header(change):
    def spoil(update):
        change(update.header)
    return spoil


def with_tensor(change):
    def spoil(update):
        change(update.place("weight"))
    return spoil


def with_metric(name, value):
    def spoil(update):
        update.header.metrics[name] = value
    return spoil


def with_features(rows):
    return lambda update: update.add_features(rows)


def spoiled_feature(value):
    def spoil(update):
        rows = unit_rows(16)
        rows[3, 5] = value
        update.add_features(rows)
    return spoil


def put(header, field, value):
    setattr(header, field, value)


def reshape(place, shape):
    place.shape[:] = shape


def drop_last(header):
    del header.tensors[-1]


def double(header):
    header.tensors.append(header.tensors[0])


def repeat_first(header):
    header.tensors[1].CopyFrom(header.tensors[0])


def swap(header):
    first = pb.TensorPlace.FromString(header.tensors[0].SerializeToString())
    header.tensors[0].CopyFrom(header.tensors[1])
    header.tensors[1].CopyFrom(first)


# What the header says: row, what, how it is spoilt, the reason of the refusal.
HEADERS = [
    (1, "a loss that is NaN", with_header(lambda h: put(h, "loss", float("nan"))), "numbers"),
    (1, "a loss that is infinite", with_header(lambda h: put(h, "loss", float("inf"))), "numbers"),
    (1, "a metric that is NaN", with_metric("spread", float("nan")), "numbers"),
    (3, "a tensor of another kind", with_tensor(lambda p: put(p, "kind", "I64")), "manifest"),
    (3, "a tensor of an unknown kind", with_tensor(lambda p: put(p, "kind", "F64")), "manifest"),
    (3, "no steps", with_header(lambda h: put(h, "steps", 0)), "numbers"),
    (3, "negative steps", with_header(lambda h: put(h, "steps", -1)), "numbers"),
    (4, "|D_c| of 1e18 in an update", with_header(lambda h: put(h, "images", 10**18)), "images"),
    (4, "|D_c| of 0 in an update", with_header(lambda h: put(h, "images", 0)), "images"),
    (4, "a negative |D_c| in an update", with_header(lambda h: put(h, "images", -32)), "images"),
    (4, "another |D_c| than enrolled", with_header(lambda h: put(h, "images", 33)), "images"),
    (5, "a tensor of another name", with_tensor(lambda p: put(p, "name", "other")), "manifest"),
    (5, "a missing tensor", with_header(drop_last), "manifest"),
    (5, "no tensors", with_header(lambda h: h.ClearField("tensors")), "manifest"),
    (5, "an extra tensor", with_header(double), "manifest"),
    (5, "the same tensor twice", with_header(repeat_first), "manifest"),
    (5, "tensors in another order", with_header(swap), "manifest"),
    (5, "another shape", with_tensor(lambda p: reshape(p, [3, 3])), "manifest"),
    (5, "a shape of 10000 axes", with_tensor(lambda p: reshape(p, [1] * 10000)), "manifest"),
    (6, "a shape whose product overflows", with_tensor(lambda p: reshape(p, [1 << 62, 8])),
     "manifest"),
    (6, "a negative axis", with_tensor(lambda p: reshape(p, [-1, 8])), "manifest"),
    (6, "a tensor that overlaps another", with_header(
        lambda h: put(h.tensors[1], "offset", h.tensors[0].offset)), "manifest"),
    (6, "an offset of 2^64 - 1", with_tensor(lambda p: put(p, "offset", (1 << 64) - 1)),
     "manifest"),
    (6, "a tensor of 2^63 bytes", with_tensor(lambda p: put(p, "bytes", 1 << 63)), "manifest"),
    (6, "2^63 bytes in all", with_header(lambda h: put(h, "bytes", 1 << 63)), "size"),
    (6, "2^58 features, whose bytes overflow", with_header(
        lambda h: put(h, "feature_rows", 1 << 58)), "features"),
    (7, "fewer bytes than the manifest has", with_header(lambda h: put(h, "bytes", 4)), "size"),
    (23, "more features than a client shares", with_features(unit_rows(65)), "features"),
    (25, "a path as a tensor's name", with_tensor(
        lambda p: put(p, "name", "../../../etc/passwd")), "manifest"),
    (25, "an upload without an id", with_header(lambda h: put(h.key, "id", "")), "manifest"),
    (25, "an id of 100000 letters", with_header(lambda h: put(h.key, "id", "x" * 100000)),
     "manifest"),
]

# What the bytes hold, for which a coordinator must look at all of them.
CONTENTS = [
    (1, "NaN in a tensor", lambda u: u.set_float("weight", float("nan")), "values"),
    (1, "infinity in a tensor", lambda u: u.set_float("weight", float("-inf")), "values"),
    (1, "NaN in the last value of the model", lambda u: struct.pack_into(
        "<f", u.data, [p for p in u.header.tensors if p.kind == "F32"][-1].offset
        + [p for p in u.header.tensors if p.kind == "F32"][-1].bytes - 4, float("nan")), "values"),
    (1, "NaN in a feature", spoiled_feature(float("nan")), "features"),
    (1, "infinity in a feature", spoiled_feature(float("inf")), "features"),
    (2, "a model a million times as large", scaled(1e6), ("norm", "values")),
    (2, "a model turned around, ten times as large", scaled(-10), ("norm", "values")),
    (2, "a model turned around", scaled(-1), ("norm", "values")),
    (2, "a model turned around, its variances left as they are", turned, "norm"),
    (2, "a constant model", filled(lambda n: numpy.full(n, 50.0)), ("norm", "values")),
    (2, "a random model", filled(lambda n: numpy.random.default_rng(n).normal(0, 50, n)),
     ("norm", "values")),
    (3, "a running variance of 0", lambda u: u.set_float("running_var", 0.0), "values"),
    (3, "a negative running variance", lambda u: u.set_float("running_var", -1.0), "values"),
    (3, "a negative counter", lambda u: struct.pack_into(
        "<q", u.data, u.place("num_batches_tracked", "I64").offset, -1), "values"),
    (3, "a counter of 2^62", lambda u: struct.pack_into(
        "<q", u.data, u.place("num_batches_tracked", "I64").offset, 1 << 62), "values"),
    (3, "more steps than the images have", with_header(lambda h: put(h, "steps", 10**6)),
     "numbers"),
    (23, "features that are not of length 1", with_features(2 * unit_rows(16)), "features"),
    (23, "features that are all equal", with_features(numpy.repeat(unit_rows(1), 32, 0)),
     "features"),
    (25, "a path as a metric's name", with_metric("../../etc/passwd", 1.0), "numbers"),
]


def attack_headers(fed, template, members, plan, model):
    for (row, what, spoil, reason), client in zip(HEADERS, members):
        update = Update(template, client, plan, model)
        spoil(update)
        # The bytes that follow are few: whoever waits for the rest has taken the header.
        outcome = client.upload(update.header, bytes(update.data[:64]))
        fed.expect(row, what, client, outcome, STRIKE, reason)
    outcome = client.plan()
    report("-", "whoever was refused gets no plan of the round any more",
           outcome.code == "OK" and outcome.reply.state == pb.PlanReply.WAIT, outcome)


def attack_contents(fed, template, members, plan, model):
    for (row, what, spoil, reasons), client in zip(CONTENTS, members):
        update = Update(template, client, plan, model)
        spoil(update)
        outcome = client.upload(update.header, bytes(update.data))
        fed.expect(row, what, client, outcome, STRIKE, reasons)
