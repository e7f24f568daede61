#!/usr/bin/python3
"""Writes baselines.json: the first three steps of each baseline, in plain PyTorch, double precision.

Run with Debian's python3-torch (1.13.1): tests/golden/baselines.py > tests/golden/baselines.json
The network, its weights and the views are in plain.py. A method is a model, what it loses on two
views, and what it does after SGD's step.
"""
import copy
import json
import math

import torch
import torch.nn.functional as F
from torch import nn

from plain import B, DIM, WIDTH, Net, ResNet10, fill, mlp, named, probes, views

STEPS, LR, HIDDEN, PROTOTYPES, MOMENTUM, CLASSES, TAU = 3, 0.01, 24, 12, 0.9, 3, 0.7


class Simclr(Net):
    def __init__(self):
        super().__init__(norm=True)

    def loss(self, one, two, step):
        z = self(torch.cat([one, two]))
        logits = z @ z.T / 0.5
        logits.fill_diagonal_(float("-inf"))
        partner = torch.cat([torch.arange(B, 2 * B), torch.arange(B)])
        return F.cross_entropy(logits, partner)


class Rotation(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = ResNet10(), nn.Linear(8 * WIDTH, 4)

    def loss(self, one, two, step):
        turned = torch.cat([torch.rot90(one, r, (2, 3)) for r in range(4)])
        return F.cross_entropy(self.head(self.encoder(turned)), torch.arange(4).repeat_interleave(B))


class Supervised(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = ResNet10(), nn.Linear(8 * WIDTH, CLASSES)

    def loss(self, one, two, step):
        return F.cross_entropy(self.head(self.encoder(one)), (torch.arange(B) + step) % CLASSES)


class Byol(Net):
    def __init__(self):
        super().__init__(HIDDEN, norm=True)
        self.predictor = mlp(DIM, HIDDEN, DIM, norm=True)

    def begin(self):
        self.target = [copy.deepcopy(self)]  # in a list: no part of the model

    def loss(self, one, two, step):
        with torch.no_grad():
            t1, t2 = (F.normalize(self.target[0].project(x)) for x in (one, two))
        p1, p2 = (F.normalize(self.predictor(self.project(x))) for x in (one, two))
        return (p1 - t2).square().sum(1).mean() + (p2 - t1).square().sum(1).mean()

    def after(self):
        for mine, its in ((self.encoder, self.target[0].encoder), (self.projector, self.target[0].projector)):
            for p, t in zip(mine.parameters(), its.parameters()):
                t.data = MOMENTUM * t.data + (1 - MOMENTUM) * p.data


class Simsiam(Net):
    def __init__(self):
        super().__init__(norm=True)
        self.predictor = mlp(DIM, DIM // 4, DIM, norm=True)

    def loss(self, one, two, step):
        z1, z2 = self.project(one), self.project(two)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return 1 - (F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2


class Swav(Net):
    def __init__(self):
        super().__init__(norm=True)
        self.prototypes = nn.Linear(DIM, PROTOTYPES, bias=False)

    def begin(self):
        self.prototypes.weight.data = F.normalize(self.prototypes.weight.data)

    after = begin

    @staticmethod
    @torch.no_grad()
    def codes(scores):
        q = torch.exp(scores / 0.05).T
        q /= q.sum()
        for _ in range(3):
            q /= q.sum(1, keepdim=True) * PROTOTYPES
            q /= q.sum(0, keepdim=True) * B
        return (q * B).T

    def loss(self, one, two, step):
        s1, s2 = self.prototypes(self(torch.cat([one, two]))).chunk(2)
        q1, q2 = self.codes(s1), self.codes(s2)
        return -((q2 * F.log_softmax(s1 / 0.1, 1)).sum(1) + (q1 * F.log_softmax(s2 / 0.1, 1)).sum(1)).mean() / 2


class Fedema(Byol):
    """A client's second round: the first weights come back, and its own model of the first round is mixed in."""

    def begin(self):
        sent = copy.deepcopy(self)
        super().begin()
        train(self)
        own = dict(named(self))
        # The autoscaler makes the first merge's share tau, but for the rounding of lambda, which is kept as a float.
        divergence = math.sqrt(sum((own[n] - t).square().sum().item() for n, t in named(sent)
                                   if "running" not in n and "num_batches" not in n and not n.startswith("predictor")))
        mu = min(torch.tensor(TAU / divergence, dtype=torch.float32).item() * divergence, 1)
        with torch.no_grad():
            for name, tensor in named(sent):
                own[name].copy_(mu * own[name] + (1 - mu) * tensor if tensor.is_floating_point() else tensor)


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), LR, momentum=0.9, weight_decay=5e-4)
    losses = []
    for step in range(STEPS):
        loss = model.loss(views(step, 0), views(step, 1), step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if hasattr(model, "after"):
            model.after()
        losses.append(loss.item())
    return losses


torch.set_num_threads(1)
result = {}
for name, kind in (("simclr", Simclr), ("rotation", Rotation), ("byol", Byol), ("simsiam", Simsiam),
                   ("swav", Swav), ("supervised", Supervised), ("fedema", Fedema)):
    model = kind()
    fill(model)
    if hasattr(model, "begin"):
        model.begin()
    losses = train(model)
    result[name] = {"lr": LR, "losses": losses, "tensors": {n: probes(t) for n, t in named(model)}}
    if name == "byol":
        result[name]["target"] = {n: probes(t) for n, t in named(model.target[0])
                                  if not n.startswith("predictor")}
print(json.dumps(result, indent=0))
