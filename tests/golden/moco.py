#!/usr/bin/python3
"""Writes moco.json: the first ten steps of momentum contrast, in plain PyTorch.

Run with Debian's python3-torch (1.13.1): tests/golden/moco.py > tests/golden/moco.json
Weights and views are formulas that src/method/moco_test.cc builds too; the order in which the key
encoder sees a batch comes from a Philox written out here.
"""
import json
import math

import torch
import torch.nn.functional as F
from torch import nn

B, SIDE, WIDTH, DIM, SPLITS = 8, 16, 4, 16, 2
K, TAU, M, LR, STEPS = 20, 0.1, 0.9, 0.06, 10
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


class SplitNorm(nn.BatchNorm2d):
    def forward(self, x):
        self.num_batches_tracked += 1
        n, c, h, w = x.shape
        mean, var = self.running_mean.repeat(SPLITS), self.running_var.repeat(SPLITS)
        y = F.batch_norm(x.reshape(n // SPLITS, c * SPLITS, h, w), mean, var,
                         self.weight.repeat(SPLITS), self.bias.repeat(SPLITS), True, 0.1, 1e-5)
        self.running_mean.copy_(mean.view(SPLITS, c).mean(0))
        self.running_var.copy_(var.view(SPLITS, c).mean(0))
        return y.reshape(n, c, h, w)


class Block(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, out, 3, stride, 1, bias=False), SplitNorm(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), SplitNorm(out)
        if stride != 1 or inside != out:
            self.downsample = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), SplitNorm(out))

    def forward(self, x):
        short = self.downsample(x) if hasattr(self, "downsample") else x
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + short)


class ResNet10(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, WIDTH, 3, 1, 1, bias=False), SplitNorm(WIDTH)
        inside = WIDTH
        for stage in range(4):
            out = WIDTH << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(Block(inside, out, 2 if stage else 1)))
            inside = out

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return x.mean((2, 3))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = ResNet10()
        self.projector = nn.Sequential(nn.Linear(8 * WIDTH, 8 * WIDTH), nn.ReLU(), nn.Linear(8 * WIDTH, DIM))

    def forward(self, x):
        return F.normalize(self.projector(self.encoder(x)))


def named(net):
    """Tensors in Kindred's order and by its names: encoder/conv1.weight."""
    return sorted((name.replace(".", "/", 1), t) for name, t in net.state_dict().items())


def fill(net):
    for t, (name, tensor) in enumerate(named(net)):
        if "running" in name or "num_batches" in name:
            continue
        wave = torch.sin(0.7 * torch.arange(tensor.numel(), dtype=torch.float64) + 1.3 * t)
        if tensor.dim() == 4:
            values = wave * math.sqrt(2 / (tensor.shape[0] * tensor.shape[2] * tensor.shape[3]))
        elif tensor.dim() == 2:
            values = wave / math.sqrt(tensor.shape[1])
        else:
            values = 0.1 * wave + (1 if name.endswith("weight") else 0)
        tensor.copy_(values.view(tensor.shape))


def views(step, number):
    i = torch.arange(3 * SIDE * SIDE, dtype=torch.float64)
    rows = [torch.sin(0.11 * i + 1.7 * b + 0.9 * step + 0.5 * number) * torch.cos(0.013 * i * (b + 1))
            for b in range(B)]
    return torch.stack(rows).float().view(B, 3, SIDE, SIDE)


torch.set_num_threads(1)
q, k = Net(), Net()
fill(q)
k.load_state_dict(q.state_dict())
optimizer = torch.optim.SGD(q.parameters(), LR, momentum=0.9, weight_decay=5e-4)
bank, losses = torch.empty(0, DIM), []
ring, count = torch.zeros(K, DIM), 0
for step in range(STEPS):
    with torch.no_grad():
        for pk, pq in zip(k.parameters(), q.parameters()):
            pk.mul_(M).add_(pq, alpha=1 - M)
        order = permutation(B, step)
        keys = k(views(step, 1)[order])[torch.argsort(order)]
    queries = q(views(step, 0))
    bank = ring[:min(count, K)]
    logits = torch.cat([(queries * keys).sum(1, True), queries @ bank.T], 1) / TAU
    loss = F.cross_entropy(logits, torch.zeros(B, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    for row in keys:
        ring[count % K] = row
        count += 1

result = {"losses": losses, "tensors": {}}
for prefix, net in (("q", q), ("k", k)):
    for name, tensor in named(net):
        flat = tensor.double().flatten()
        result["tensors"][f"{prefix}/{name}"] = [flat.norm().item()] + flat[:3].tolist()
result["bank"] = [ring.double().norm().item()] + ring.flatten()[:3].double().tolist()
print(json.dumps(result, indent=0))
