#!/usr/bin/python3
"""What testssl.sh finds at a coordinator's port.

    tls_scan.py KINDRED [--json FILE]

testssl.sh 3.0 knows no client certificates: it scans by an `openssl` that shows one where it makes whole connections.
Exit code 1 when a finding is HIGH or CRITICAL and not in ACCEPTED, 77 without testssl.sh. Takes two minutes.

    tls_scan.py --judge FILE    of findings that were kept
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the source folder

from programs import TINY, Folder, free_port

FAIL = {"HIGH", "CRITICAL", "FATAL"}
QUIET = {"OK", "INFO"}
# HIGH for a web site, and why not here.
ACCEPTED = {
    "cipher_order": "every cipher it offers is strong (checked below): the client may choose",
    "cert_revocation": "the authority has no web site for lists; a stolen key means a new authority (docs/deploy.md)",
}
STRONG = ("GCM", "CHACHA20")
TESTED = {"TLS1_2", "TLS1_3", "SSLv3", "heartbleed", "cert_signatureAlgorithm"}  # or it was no scan


def judge(findings):
    """Prints what is above INFO; whether all of it may be."""
    failed = []
    for each in findings:
        if each["severity"] in QUIET:
            continue
        why = ACCEPTED.get(each["id"], "")
        print(f"{each['severity']:8} {each['id']}: {each['finding']}{' - accepted: ' + why if why else ''}")
        if each["severity"] in FAIL and not why:
            failed.append(each["id"])
    weak = [each["finding"] for each in findings
            if each["id"].startswith("cipher_x") and not any(word in each["finding"] for word in STRONG)]
    missing = TESTED - {each["id"] for each in findings}
    print(f"{len(findings)} findings: {dict(collections.Counter(each['severity'] for each in findings))}")
    print(f"failed: {failed}, weak ciphers: {weak}, not tested: {sorted(missing)}")
    return not (failed or weak or missing)


def scan(kindred, testssl, keep):
    """The findings, as testssl.sh writes them."""
    with Folder(kindred, "tls") as folder:
        address = f"127.0.0.1:{free_port()}"
        folder.run("pki", "init", "--out", folder.path / "pki")
        kit = folder.issue("scanner", address)
        server = folder.start("serve.log", "serve", "--config", TINY, "--set", "server.min_clients=1", "--listen",
                              address, "--pki", folder.path / "pki", "--out", folder.path / "served")
        server.after("listening on ")
        openssl = folder.path / "openssl"
        openssl.write_text(f"""#!/bin/sh
case "$1" in
  s_client) shift; exec {shutil.which("openssl")} s_client -cert {kit}/client.crt -key {kit}/client.key "$@" ;;
  *) exec {shutil.which("openssl")} "$@" ;;
esac
""")
        openssl.chmod(0o755)
        found = folder.path / "findings.json"
        # By the certificate's name, without asking anybody for its address.
        done = subprocess.run([testssl, "--quiet", "--color", "0", "--nodns", "none", "--warnings", "off", "--openssl",
                               str(openssl), "--add-ca", str(kit / "ca.crt"), "--jsonfile", str(found), "--ip",
                               "127.0.0.1", f"kindred-coordinator:{address.rsplit(':', 1)[1]}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
        if not found.exists() or not server.alive():
            raise SystemExit(f"{done.stdout}{done.stderr}FAIL  no findings: testssl.sh ended with {done.returncode}, "
                             f"the coordinator is {'alive' if server.alive() else 'gone'}")
        if keep:
            shutil.copy(found, keep)
        return json.loads(found.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kindred", nargs="?")
    parser.add_argument("--json", help="keeps all findings in this file")
    parser.add_argument("--judge", help="findings that were kept, instead of a scan")
    options = parser.parse_args()
    testssl = shutil.which("testssl") or shutil.which("testssl.sh")
    if options.judge:
        findings = json.loads(pathlib.Path(options.judge).read_text())
    elif not testssl:
        print("SKIP  testssl.sh is not installed (Debian: testssl.sh)")
        return 77
    else:
        findings = scan(options.kindred, testssl, options.json)
    good = judge(findings)
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
