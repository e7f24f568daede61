#!/usr/bin/python3
"""Writes moco.json: the first five steps of momentum contrast, in plain PyTorch, double precision,
with a batch norm in the projector ("norm") and without ("plain").

Run with Debian's python3-torch (1.13.1): tests/golden/moco.py > tests/golden/moco.json
The network, its weights and the views are in plain.py; the order in which the key encoder sees a
batch comes from a Philox written out here.
"""
import json
import math

import torch
import torch.nn.functional as F

from plain import B, DIM, Net, fill, named, probes, views

K, TAU, M, LR, STEPS = 20, 0.1, 0.9, 0.06, 5
SEED, ROUND, CLIENT, EPOCH = 5, 3, 2, 1
MASK = (1 << 64) - 1


def philox(counter, key):
    """Philox4x64-10 (Salmon et al. 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(p1 >> 64) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 64) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B97F4A7C15) & MASK, (k[1] + 0xBB67AE8584CAA73B) & MASK]
    return c


def permutation(n, step):
    """base/rng.h: the stream (seed, kShuffleKeys = 7, round, client, epoch, step), Fisher-Yates."""
    def words():
        block = 0
        while True:
            yield from philox([block, step, ROUND << 32 | EPOCH, CLIENT], [SEED, 7])
            block += 1
    stream, order = words(), list(range(n))
    for i in range(n, 1, -1):
        product = next(stream) * i
        while product & MASK < i and product & MASK < (1 << 64) % i:
            product = next(stream) * i
        j = product >> 64
        order[i - 1], order[j] = order[j], order[i - 1]
    return torch.tensor(order)


def train(norm):
    """The steps with a projector that has a batch norm or none: losses, tensors, bank."""
    q, k = Net(norm=norm), Net(norm=norm)
    fill(q)
    k.load_state_dict(q.state_dict())
    optimizer = torch.optim.SGD(q.parameters(), LR, momentum=0.9, weight_decay=5e-4)
    losses = []
    ring, owners, count = torch.zeros(K, DIM), torch.zeros(K, dtype=torch.long), 0
    for step in range(STEPS):
        with torch.no_grad():
            for pk, pq in zip(k.parameters(), q.parameters()):
                pk.mul_(M).add_(pq, alpha=1 - M)
            order = permutation(B, step)
            keys = k(views(step, 1)[order])[torch.argsort(order)]
        queries = q(views(step, 0))
        samples = torch.tensor([(5 * step + b) % 19 for b in range(B)])
        bank = ring[:min(count, K)]
        own = owners[:min(count, K)] == samples[:, None]
        negatives = (queries @ bank.T).masked_fill(own, -math.inf)
        logits = torch.cat([(queries * keys).sum(1, True), negatives], 1) / TAU
        loss = F.cross_entropy(logits, torch.zeros(B, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        for row, sample in zip(keys, samples):
            ring[count % K], owners[count % K] = row, sample
            count += 1

    result = {"losses": losses, "tensors": {}}
    for prefix, net in (("q", q), ("k", k)):
        for name, tensor in named(net):
            result["tensors"][f"{prefix}/{name}"] = probes(tensor)
    result["bank"] = probes(ring)
    return result


torch.set_num_threads(1)
print(json.dumps({"norm": train(True), "plain": train(False)}, indent=0))
