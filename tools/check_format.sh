#!/usr/bin/env bash
# Every C++ file is as clang-format writes it (`make format` does).
set -euo pipefail
cd "${1:-.}"
clang-format --dry-run --Werror src/*/*.h src/*/*.cc tests/*.h tests/*.cc tests/fuzz/*.h tests/fuzz/*.cc bench/*.cc
