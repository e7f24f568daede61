#!/usr/bin/python3
"""h of raw images by torchvision's ResNet with the weights of encoder.safetensors.

  torchvision_features.py ENCODER.safetensors IMAGES.u8 COUNT CHANNELS HEIGHT WIDTH OUT.f32
"""
import json
import struct
import sys

import numpy as np
import torch
from torchvision.models.resnet import BasicBlock, ResNet


def read_safetensors(path):
    """The file's tensors by name, and its metadata."""
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    kinds = {"F32": np.float32, "I64": np.int64}
    tensors = {}
    for name, entry in header.items():
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        values = np.frombuffer(data[first:last], kinds[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors, metadata


def small_resnet(tensors):
    """torchvision's ResNet with a 3x3 stem and no max-pool, as wide as the weights are."""
    width, channels = tensors["conv1.weight"].shape[:2]
    blocks = 2 if "layer1.1.conv1.weight" in tensors else 1
    model = ResNet(BasicBlock, [blocks] * 4)
    model.conv1 = torch.nn.Conv2d(channels, width, 3, 1, 1, bias=False)
    model.bn1 = torch.nn.BatchNorm2d(width)
    model.maxpool = torch.nn.Identity()
    model.inplanes = width
    for stage in range(4):
        layer = model._make_layer(BasicBlock, width << stage, blocks, stride=1 if stage == 0 else 2)
        setattr(model, f"layer{stage + 1}", layer)
    model.fc = torch.nn.Identity()
    model.load_state_dict(tensors)
    return model.eval()


def main():
    encoder, images, *shape, out = sys.argv[1:]
    tensors, metadata = read_safetensors(encoder)
    takes = json.loads(metadata["kindred_input"])
    x = torch.from_numpy(np.fromfile(images, np.uint8).reshape([int(n) for n in shape]))
    mean, std = (torch.tensor(takes[key][:x.shape[1]])[:, None, None] for key in ("mean", "std"))
    with torch.no_grad():
        h = small_resnet(tensors)((x.float() / 255 - mean) / std)
    h.numpy().tofile(out)


main()
