#!/usr/bin/python3
"""Writes views.json: what torchvision makes of a fixed image with fixed parameters.

Run with Debian's python3-torchvision (0.14.1): tests/golden/views.py > tests/golden/views.json
"tensor" values come from float tensors, "pil" values from 8-bit PIL images.
"""
import json

import numpy as np
import torch
import torchvision.transforms.functional as F
from PIL import Image


def pattern(channels, height, width):
    """The image that the tests build too: bytes [channels, height, width]."""
    c, y, x = np.meshgrid(range(channels), range(height), range(width), indexing="ij")
    return ((37 * c + 11 * y + 7 * x + (c + 1) * x * y + 5 * (x ^ y)) % 256).astype(np.uint8)


def tensor(image):
    return torch.from_numpy(image).float() / 255


def pil(image):
    return Image.fromarray(image[0] if len(image) == 1 else image.transpose(1, 2, 0))


def numbers(result):
    """Planar values: floats with 8 digits, or bytes of a PIL image."""
    if isinstance(result, torch.Tensor):
        return [float(f"{v:.8g}") for v in result.flatten().tolist()]
    array = np.array(result)
    return (array if array.ndim == 2 else array.transpose(2, 0, 1)).flatten().tolist()


SIZE = 9
color, grey = pattern(3, SIZE, SIZE), pattern(1, SIZE, SIZE)
cases = {}


def add(name, operation, image=color, parameters=None):
    cases[name] = {"parameters": parameters or [], "tensor": numbers(operation(tensor(image))),
                   "pil": numbers(operation(pil(image)))}


for i, box in enumerate([(0, 0, 9, 9), (2, 1, 5, 6), (4, 3, 5, 4), (0, 5, 3, 4), (3, 3, 1, 2)]):
    add(f"crop{i}", lambda im, b=box: F.resized_crop(im, *b, [SIZE, SIZE]), parameters=box)
add("crop_wide", lambda im: F.resized_crop(im, 1, 3, 4, 7, [6, 11]), image=pattern(3, 6, 11),
    parameters=(1, 3, 4, 7))
add("flip", F.hflip)
add("flip_wide", F.hflip, image=pattern(3, 6, 11))
for name, function, factors in [("brightness", F.adjust_brightness, (0.63, 1.38)),
                                ("contrast", F.adjust_contrast, (0.61, 1.37)),
                                ("saturation", F.adjust_saturation, (0.0, 0.62, 1.4)),
                                ("hue", F.adjust_hue, (-0.1, 0.073, 0.5))]:
    for i, factor in enumerate(factors):
        add(f"{name}{i}", lambda im, f=factor, op=function: op(im, f), parameters=[factor])
add("contrast_grey", lambda im: F.adjust_contrast(im, 1.31), image=grey, parameters=[1.31])
add("grayscale", lambda im: F.rgb_to_grayscale(im, 3))
for i, sigma in enumerate((0.3, 1.7)):
    add(f"blur{i}", lambda im, s=sigma: F.gaussian_blur(im, [3, 3], [s, s]), parameters=[sigma])

add("blur_wide", lambda im: F.gaussian_blur(im, [3, 3], [1.1, 1.1]), image=pattern(3, 6, 11),
    parameters=[1.1])

# All of a view in a row: crop, flip, jitter in the order 2 0 3 1, normalise.
MEAN, STD = [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]


def view(im):
    im = F.hflip(F.resized_crop(im, 1, 2, 7, 6, [SIZE, SIZE]))
    im = F.adjust_contrast(F.adjust_hue(F.adjust_brightness(
        F.adjust_saturation(im, 0.7), 1.2), -0.05), 1.3)
    return F.normalize(im if isinstance(im, torch.Tensor) else F.to_tensor(im), MEAN, STD)


add("view", view)

# Scaling photos: the shorter side to 7, the middle cut out.
for i, (height, width) in enumerate([(40, 23), (21, 50), (5, 6), (7, 30)]):
    image = pattern(3, height, width)
    def square(im):
        kind = {"antialias": True} if isinstance(im, torch.Tensor) else {}
        return F.center_crop(F.resize(im, 7, **kind), [7, 7])
    add(f"square{i}", square, image=image, parameters=[height, width])

text = json.dumps({"size": SIZE, "cases": cases}, separators=(",", ":"))
print(text.replace('},"', '},\n"'))
