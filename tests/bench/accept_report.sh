#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# accept_report.sh NAME VERDICT - whether NAME.json and NAME.txt, in this directory, are a report of
# armci_accept with this verdict, say the same, and tell no name of this host, its user or its
# directories. Without python3 the JSON is looked at by eye only.
set -u
fail() {
	echo "FAIL: $*"
	exit 1
}
grep -q -i "^Verdict: $2\$" "$1.txt" || fail "the text has not the verdict $2"
grep -q "\"verdict\": \"$2\"" "$1.json" || fail "JSON has not the verdict $2"
for name in "$(hostname)" "$(id -un)"; do
	! grep -n -i -w -F -e "$name" "$1.txt" "$1.json" || fail "a name is in the report: $name"
done
for directory in "$HOME" "$PWD" "${BUILD:-$PWD}"; do
	! grep -n -F -e "$directory/" "$1.txt" "$1.json" || fail "a directory is in the report"
done
command -v python3 >/dev/null || { echo "skip: no python3 to read JSON"; exit 0; }
python3 - "$1.json" "$1.txt" <<'END'
import json, sys
with open(sys.argv[1]) as f:
    report = json.load(f)
with open(sys.argv[2]) as f:
    text = f.read()
assert report["format"] == 1 and report["libarmci"], report
assert (report["verdict"] == "failed") == bool(report["failures"]), report["failures"]
for words in report["failures"] + report["notes"] + report["differences"]:
    assert words.replace("\n", "\n    ") in text, words
for node in report["nodes"]:
    assert node["ranks"] and {f["name"] for f in node["facts"]} >= {"kernel", "limit memlock"}
for check in report["correctness"]:
    assert check["result"] in ("passed", "failed", "skipped"), check
    assert check["transport"] in text, check
for figure in report["speed"]:
    assert figure["ours"]["median"] >= 0 and figure["operation"] in text, figure
if report["verdict"] == "passed":
    assert report["nodes"] and report["speed"] and report["growth"] and report["application"]
    assert all(g["own_mib"] > 0 and g["start_ms"] > 0 for g in report["growth"])
END
