"""What the golden scripts share: Kindred's network in plain PyTorch, and weights and views that are
formulas, which tests/golden_steps.h builds too.

All in double. These steps magnify rounding: batch norms of few values divide by small deviations, and
a ReLU near zero is on or off. Two instruction sets differ by up to 2e-3 in float, by 1e-12 in double.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

B, SIDE, WIDTH, DIM, SPLITS = 8, 16, 4, 16, 2
torch.set_default_dtype(torch.float64)


class SplitNorm(nn.BatchNorm2d):
    def _check_input_dim(self, x):
        pass

    def forward(self, x):
        self.num_batches_tracked += 1
        n, c, *rest = x.shape
        mean, var = self.running_mean.repeat(SPLITS), self.running_var.repeat(SPLITS)
        y = F.batch_norm(x.reshape(n // SPLITS, c * SPLITS, *rest), mean, var,
                         self.weight.repeat(SPLITS), self.bias.repeat(SPLITS), True, 0.1, 1e-5)
        self.running_mean.copy_(mean.view(SPLITS, c).mean(0))
        self.running_var.copy_(var.view(SPLITS, c).mean(0))
        return y.reshape(n, c, *rest)


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


def mlp(inside, hidden, out, norm):
    """The projector, with a batch norm or without, and BYOL's predictor."""
    middle = [SplitNorm(hidden)] if norm else []
    return nn.Sequential(nn.Linear(inside, hidden), *middle, nn.ReLU(), nn.Linear(hidden, out))


class Net(nn.Module):
    def __init__(self, hidden=8 * WIDTH, norm=False):
        super().__init__()
        self.encoder = ResNet10()
        self.projector = mlp(8 * WIDTH, hidden, DIM, norm)

    def project(self, x):
        return self.projector(self.encoder(x))

    def forward(self, x):
        return F.normalize(self.project(x))


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
    return torch.stack(rows).view(B, 3, SIDE, SIDE)


def probes(tensor):
    """A tensor's norm and first values."""
    flat = tensor.double().flatten()
    return [flat.norm().item()] + flat[:3].tolist()
