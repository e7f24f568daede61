#!/bin/sh
# hardening.sh FILE...: whether release builds are hardened as CMakeLists.txt says (KINDRED_HARDENED).
failed=0
expect() {  # FILE WHAT COMMAND: the command must find it
  if sh -c "$3" >/dev/null 2>&1; then echo "PASS $(basename "$1"): $2"; else echo "FAIL $(basename "$1"): $2"; failed=1; fi
}
for file in "$@"; do
  expect "$file" "position independent" "readelf -h '$file' | grep -q 'Type:.*DYN'"
  expect "$file" "tables of the linker are read-only" "readelf -lW '$file' | grep -q GNU_RELRO"
  expect "$file" "every symbol is bound at the start" "readelf -dW '$file' | grep -Eq 'BIND_NOW|FLAGS_1.*NOW'"
  expect "$file" "no executable stack" "readelf -lW '$file' | grep GNU_STACK | grep -qv RWE"
  expect "$file" "guards on the stack" "readelf -sW --dyn-syms '$file' | grep -q __stack_chk_fail"
  expect "$file" "copies into buffers of known size are checked" \
         "readelf -sW --dyn-syms '$file' | grep -Eq '__(mem|str|f|v|s|read|recv|poll|pread|snprintf)[a-z]*_chk'"
  expect "$file" "the standard library checks its preconditions" \
         "readelf -sW --dyn-syms '$file' | grep -q __glibcxx_assert_fail"
done
exit $failed
