#!/usr/bin/env bash
# The demo: five owners of Fashion-MNIST, two classes each, learn one encoder together.
set -euo pipefail
kindred=$1
out=runs/demo
"$kindred" data get fashion-mnist
echo
mkdir -p runs
"$kindred" data partition --config configs/demo.toml --out runs/demo-partition.svg --force
"$kindred" data preview --config configs/demo.toml --out runs/demo-views.png --force
echo
# --resume: goes on where an earlier demo was stopped, and shows a finished one again.
"$kindred" train --config configs/demo.toml --resume --out "$out"
echo
"$kindred" eval linear --run "$out" > /dev/null
"$kindred" report "$out" --out runs/demo.html --force
echo "open runs/demo.html in a browser: xdg-open runs/demo.html"
echo "pictures: runs/demo-partition.svg (who owns what), runs/demo-views.png (images and their views)"
