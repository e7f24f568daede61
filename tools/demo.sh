#!/usr/bin/env bash
# The demo: fetches Fashion-MNIST, deals it to five owners, and draws what training will see.
set -euo pipefail
kindred=$1
out=runs/demo
mkdir -p "$out"
"$kindred" data get fashion-mnist
echo
"$kindred" data inspect --config configs/demo.toml
echo
"$kindred" data partition --config configs/demo.toml --out "$out/partition.svg" --force
echo
"$kindred" data preview --config configs/demo.toml --out "$out/preview.png" --force
echo
echo "Look at $out/partition.svg (who owns what) and $out/preview.png (images and their views)."
