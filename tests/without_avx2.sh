#!/usr/bin/env bash
# Trains a round on an emulated CPU without AVX2: QEMU PROGRAM CONFIG.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$1" -cpu Nehalem "$2" train --config "$3" --set train.rounds=1 --set data.limit=100 \
  --set eval.limit=20 --workers 1 --out "$folder/run"
grep -q '"kernels": "portable"' "$folder/run/summary.json"
grep -q '"pinned": "sse"' "$folder/run/summary.json"
