#!/usr/bin/env bash
# A folder of src/ includes only itself and folders above it in src/LAYERS.
set -euo pipefail
cd "${1:-.}"
mapfile -t order < src/LAYERS
declare -A rank
for i in "${!order[@]}"; do rank[${order[i]}]=$i; done
bad=0
for folder in src/*/; do
  name=$(basename "$folder")
  if [ -z "${rank[$name]+known}" ]; then echo "src/$name is not in src/LAYERS"; bad=1; continue; fi
  [ "$(find "$folder" -type f | wc -l)" -gt 1 ] || { echo "src/$name has a single file"; bad=1; }
  while IFS=: read -r file line include; do
    used=$(sed -E 's/.*"([a-z_]+)\/.*/\1/' <<< "$include")
    [ "$used" = tests ] && [[ $file == *_test.cc ]] && continue
    if [ -z "${rank[$used]+known}" ] || [ "${rank[$used]}" -gt "${rank[$name]}" ]; then
      echo "$file:$line: src/$name may not include $used/"; bad=1
    fi
  done < <(grep -nE '^#include "[a-z_]+/' "$folder"*.cc "$folder"*.h)
done
exit $bad
