#!/usr/bin/env bash
# Ranks on two hosts: network and host names of their own, nothing between them but TCP. The model is
# that of one process. Needs root and network namespaces; exit code 77 without.
#
#   tests/two_hosts.sh KINDRED
set -euo pipefail
kindred=$(realpath "$1")
config=$(realpath "$(dirname "$0")/../configs/tiny.toml")
command -v mpirun > /dev/null && [ "$(id -u)" -eq 0 ] || exit 77
tag=kr$$
ip netns add "${tag}a" 2> /dev/null || exit 77
folder=$(mktemp -d)
trap 'ip netns del ${tag}a; ip netns del ${tag}b 2> /dev/null || true; rm -rf "$folder"' EXIT
ip netns exec "${tag}a" true 2> /dev/null || exit 77 # it mounts, which not every container may
ip netns add "${tag}b"
ip link add v0 netns "${tag}a" type veth peer name v1 netns "${tag}b"
for side in a b; do
  number=$([ $side = a ] && echo 1 || echo 2)
  ip -n "$tag$side" link set lo up
  ip -n "$tag$side" addr add "10.77.0.$number/24" dev "v$((number - 1))"
  ip -n "$tag$side" link set "v$((number - 1))" up
done
# What ssh would be: enters the other host, given by its address, and runs the command there.
cat > "$folder/enter" << END
#!/bin/sh
host=\$1; shift
case \$host in *.1) side=a ;; *) side=b ;; esac
exec ip netns exec ${tag}\$side unshare --uts sh -c "hostname kindred-\$side; \$*"
END
chmod +x "$folder/enter"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 XDG_CACHE_HOME="$folder/cache"
cd "$folder"
mpirun -n 1 "$kindred" train --set train.batch=0 2>&1 | grep -q "built without MPI" && exit 77
"$kindred" train --config "$config" --out alone > /dev/null 2>&1
ip netns exec "${tag}a" unshare --uts sh -c "hostname kindred-a; exec mpirun --host 10.77.0.1:1,10.77.0.2:1 -n 2 \
  --mca plm_rsh_agent $folder/enter --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
  --mca oob_tcp_if_include 10.77.0.0/24 -x XDG_CACHE_HOME $kindred train --config $config --out ranks"
bytes=$(ip -n "${tag}a" -s link show v0 | awk '/TX/ { getline; print $1 }')
grep -h '"model_digest"\|"ranks"' alone/summary.json ranks/summary.json
echo "$bytes bytes went from one host to the other"
[ "$bytes" -gt 1000000 ] # the model went over the link, not through memory
diff <(grep model_digest alone/summary.json) <(grep model_digest ranks/summary.json)
