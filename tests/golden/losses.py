#!/usr/bin/python3
"""Writes losses.json: the baselines' losses and their gradients in plain PyTorch, double precision.

Run with Debian's python3-torch (1.13.1): tests/golden/losses.py > tests/golden/losses.json
Inputs are formulas that tests/golden_steps.h builds too.
"""
import json

import torch
import torch.nn.functional as F


def rows(n, d, phase):
    """Unit rows."""
    i = torch.arange(n * d, dtype=torch.float64)
    return F.normalize(torch.sin(0.9 * i + phase + 0.01 * i * i).view(n, d))


def with_gradient(loss, *inputs):
    return {"loss": loss.item(), "gradients": [g.flatten().tolist() for g in torch.autograd.grad(loss, inputs)]}


result = {}
z, dictionary = rows(8, 5, 0.3).requires_grad_(), rows(7, 5, 2.0)
for name, extra in (("nt_xent", dictionary[:0]), ("nt_xent_dictionary", dictionary)):
    logits = torch.cat([z @ z.T, z @ extra.T], 1) / 0.5
    logits[torch.arange(8), torch.arange(8)] = float("-inf")
    result[name] = with_gradient(F.cross_entropy(logits, torch.arange(8).roll(4)), z)

p, target = (3 * rows(4, 5, 0.3)).detach().requires_grad_(), 2 * rows(4, 5, 1.1)
result["latent_regression"] = with_gradient(
    (F.normalize(p) - F.normalize(target)).square().sum(1).mean(), p)

logits = rows(12, 4, 0.7).requires_grad_()
result["rotation"] = with_gradient(F.cross_entropy(logits, torch.tensor([0] * 3 + [1] * 3 + [2] * 3 + [3] * 3)), logits)

s1, s2 = rows(6, 4, 0.2).requires_grad_(), rows(6, 4, 1.9).requires_grad_()


def sinkhorn(scores):
    q = torch.exp(scores.detach() / 0.05).T
    q /= q.sum()
    for _ in range(3):
        q /= q.sum(1, keepdim=True) * q.shape[0]
        q /= q.sum(0, keepdim=True) * q.shape[1]
    return (q * q.shape[1]).T


q1, q2 = sinkhorn(s1), sinkhorn(s2)
result["sinkhorn"] = q1.flatten().tolist()
result["swapped_prediction"] = with_gradient(
    -((q2 * F.log_softmax(s1 / 0.1, 1)).sum(1) + (q1 * F.log_softmax(s2 / 0.1, 1)).sum(1)).mean() / 2, s1, s2)

points, centroids = rows(30, 3, 0.4), rows(30, 3, 0.4)[[2, 11, 17, 23]]
for _ in range(10):
    nearest = (points @ centroids.T).argmax(1)
    for k in range(4):
        if (nearest == k).any():
            centroids[k] = F.normalize(points[nearest == k].mean(0), dim=0)
result["spherical_kmeans"] = {"centroids": centroids.flatten().tolist(),
                              "nearest": (points @ centroids.T).argmax(1).tolist()}
print(json.dumps(result, indent=0))
