#!/usr/bin/env bash
# Runs tests once per instruction set that a numeric library can be held to: QEMU PROGRAM FILTER.
# What this CPU lacks runs in the emulator, but for the one test that takes minutes there, or is skipped
# where the emulator lacks it too (AVX-512).
# One line per setting: passed, failed or skipped. Fails when a test fails or a library ignores its setting.
set -uo pipefail
qemu="$1" program="$2" filter="$3"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: these are instruction sets of x86-64"; exit 77; }
flags=" $(grep -m 1 '^flags' /proc/cpuinfo | cut -d: -f2) "
out="$(mktemp)"
trap 'rm -f "$out"' EXIT
failed=0

# has FLAG...: whether this CPU does.
has() {
  local flag
  for flag in "$@"; do [[ "$flags" == *" $flag "* ]] || return 1; done
}

# run SETTING TAKEN CPU FLAG...: TAKEN is what the library prints when it has taken the setting; empty: it
# prints nothing. CPU is the emulator's that has these flags; none: -.
run() {
  local setting="$1" taken="$2" cpu="$3" tests="$filter" how=() where=""
  shift 3
  if ! has "$@"; then
    if [ "$cpu" = - ] || [ ! -x "$qemu" ]; then
      echo "$setting: skipped, neither this CPU nor the emulator has $*"
      return
    fi
    how=("$qemu" -cpu "$cpu") where=" in the emulator"
    tests="$filter-FastResNet.IsTheResNetAndItsGradients"
    [[ "$setting" == ONEDNN* ]] && taken=""  # that test is what needs oneDNN
  fi
  if ! env OPENBLAS_VERBOSE=2 ONEDNN_VERBOSE=1 "$setting" \
      "${how[@]}" "$program" "--gtest_filter=$tests" > "$out" 2>&1 ||
      ! grep -q '^\[  PASSED  \] [1-9]' "$out"; then
    echo "$setting: failed$where"
    grep -v '^onednn_verbose' "$out" | tail -n 60
    failed=1
  elif ! grep -q "$taken" "$out"; then
    echo "$setting: failed$where, the library has not taken it"
    grep -E '^(Core:|onednn_verbose,info)' "$out"
    failed=1
  else
    echo "$setting: passed$where"
  fi
}

avx2=(avx2 fma) avx512=(avx512f avx512bw avx512cd avx512dq avx512vl)
run ATEN_CPU_CAPABILITY=default "" Nehalem sse4_2
run ATEN_CPU_CAPABILITY=avx2 "" Haswell "${avx2[@]}"
run ATEN_CPU_CAPABILITY=avx512 "" - "${avx512[@]}"
run ONEDNN_MAX_CPU_ISA=SSE41 "isa:Intel SSE4.1" Nehalem sse4_2
run ONEDNN_MAX_CPU_ISA=AVX2 "isa:Intel AVX2" Haswell "${avx2[@]}"
run ONEDNN_MAX_CPU_ISA=AVX512_CORE "isa:Intel AVX-512" - "${avx512[@]}"
run OPENBLAS_CORETYPE=Nehalem "^Core: Nehalem" Nehalem sse4_2
run OPENBLAS_CORETYPE=Haswell "^Core: Haswell" Haswell "${avx2[@]}"
run OPENBLAS_CORETYPE=SkylakeX "^Core: SkylakeX" - "${avx512[@]}"
exit "$failed"
