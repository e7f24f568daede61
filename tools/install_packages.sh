#!/usr/bin/env bash
# Installs the packages of the given groups (tools/packages.txt) that are missing. Does nothing, and
# needs no rights, when all are there.
set -euo pipefail
list="$(dirname "$0")/packages.txt"
missing=()
for group in "$@"; do
  while read -r package; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if ! command -v apt-get > /dev/null; then
  echo "These are missing, and this is not Debian: ${missing[*]}" >&2
  exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
