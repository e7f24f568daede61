#!/usr/bin/python3
"""One round of CCL as a plain PyTorch + torchvision script would do it: the peer of bench/round.py.

Five clients one after the other, all cores in every operation: two views of each image (torchvision
on PIL images, by a DataLoader), the main model's way forward and back, the momentum model's forward,
the contrastive loss with both banks, neighborhood matching, SGD, the momentum update, the bank; then
the features of InstaHide encodings of as many images as Kindred encodes, and the weighted average of
both models. Prints a line with the seconds of each round it is asked for on stdin.
"""
import argparse
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torchvision import transforms as T
from torchvision.models.resnet import BasicBlock, ResNet

arguments = argparse.ArgumentParser()
arguments.add_argument("--width", type=int, default=64)
arguments.add_argument("--clients", type=int, default=5)
arguments.add_argument("--images", type=int, default=256, help="of a client")
arguments.add_argument("--batch", type=int, default=128)
arguments.add_argument("--bank", type=int, default=1024)
arguments.add_argument("--workers", type=int, default=0, help="processes that make views")
args = arguments.parse_args()
DIM, TAU, TAU_NM, NEIGHBORS, LAMBDA, MOMENTUM, MIX = 128, 0.1, 0.05, 5, 0.05, 0.99, 4
torch.set_num_threads(os.cpu_count())  # its own choice may be fewer
torch.manual_seed(0)
normalize = T.Compose([T.ToTensor(), T.Normalize((0.5,) * 3, (0.25,) * 3)])
view = T.Compose([
    T.RandomResizedCrop(32, scale=(0.2, 1.0)), T.RandomHorizontalFlip(),
    T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8), T.RandomGrayscale(p=0.2), normalize])


class SmallResNet(ResNet):
    """ResNet-18 of any width for small images: a 3x3 stem, no max-pool."""

    def __init__(self, width):
        super().__init__(BasicBlock, [2, 2, 2, 2])
        self.inplanes = width
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.Identity()
        self.layer1 = self._make_layer(BasicBlock, width, 2)
        self.layer2 = self._make_layer(BasicBlock, 2 * width, 2, stride=2)
        self.layer3 = self._make_layer(BasicBlock, 4 * width, 2, stride=2)
        self.layer4 = self._make_layer(BasicBlock, 8 * width, 2, stride=2)
        self.fc = nn.Sequential(
            nn.Linear(8 * width, 8 * width), nn.ReLU(), nn.Linear(8 * width, DIM))

    def forward(self, x):
        return F.normalize(super().forward(x))


class Pairs(torch.utils.data.Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return view(self.images[i]), view(self.images[i])


pixels = np.random.default_rng(0).integers(
    0, 256, (args.clients, args.images, 32, 32, 3), dtype=np.uint8)
clients = [[Image.fromarray(p) for p in own] for own in pixels]
banks = [F.normalize(torch.randn(args.bank, DIM)) for _ in clients]
shared = [F.normalize(torch.randn(min(args.bank, args.images), DIM)) for _ in clients]
q, k = SmallResNet(args.width), SmallResNet(args.width)
k.load_state_dict(q.state_dict())
for parameter in k.parameters():
    parameter.requires_grad = False
global_q, global_k = ({n: t.clone() for n, t in m.state_dict().items()} for m in (q, k))


def encode(images):
    """Features of InstaHide encodings, by magnitude, with the batch's statistics."""
    plain = torch.stack([normalize(image) for image in images])
    features = []
    for first in range(0, len(images), args.batch):
        own = plain[first:first + args.batch]
        weights = torch.rand(len(own), MIX)
        weights /= weights.sum(1, keepdim=True)
        mixed = weights[:, 0].view(-1, 1, 1, 1) * own
        for i in range(1, MIX):
            other = plain[torch.randint(len(plain), (len(own),))]
            mixed += weights[:, i].view(-1, 1, 1, 1) * other
        with torch.no_grad():
            features.append(k(mixed.abs()))
    return torch.cat(features)


def train(client):
    q.load_state_dict(global_q)
    k.load_state_dict(global_k)
    sgd = torch.optim.SGD(q.parameters(), 0.03, momentum=0.9, weight_decay=5e-4)
    remote = torch.cat([f for c, f in enumerate(shared) if c != client])
    bank = banks[client]
    loader = torch.utils.data.DataLoader(
        Pairs(clients[client]), args.batch, shuffle=True, drop_last=True,
        num_workers=args.workers)
    for first, second in loader:
        with torch.no_grad():
            for slow, fast in zip(k.parameters(), q.parameters()):
                slow.mul_(MOMENTUM).add_(fast, alpha=1 - MOMENTUM)
            keys = k(second)
        queries = q(first)
        positive = (queries * keys).sum(1, keepdim=True)
        negatives = torch.cat([bank, remote])
        logits = torch.cat([positive, queries @ negatives.T], 1) / TAU
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        candidates = negatives[torch.randperm(len(negatives))[:args.bank]]
        similar = queries @ candidates.T
        nearest = similar.detach().topk(NEIGHBORS, 1).indices
        matched = F.log_softmax(similar / TAU_NM, 1).gather(1, nearest)
        loss = loss - LAMBDA * matched.mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        bank = torch.cat([keys, bank])[:args.bank]
    banks[client] = bank
    return ({n: t.clone() for n, t in m.state_dict().items()} for m in (q, k))


def one_round():
    global global_q, global_k, shared
    sums, features = [None, None], []
    for client in range(args.clients):
        for i, state in enumerate(train(client)):
            if sums[i] is None:
                sums[i] = {n: t.double() for n, t in state.items()}
            else:
                for n, t in state.items():
                    sums[i][n] += t.double()
        features.append(encode(clients[client][:args.bank]))
    shared = features
    global_q, global_k = ({n: (t / args.clients).to(q.state_dict()[n].dtype)
                           for n, t in s.items()} for s in sums)


for _ in sys.stdin:
    start = time.perf_counter()
    one_round()
    print(time.perf_counter() - start, flush=True)
