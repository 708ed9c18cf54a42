# SPDX-License-Identifier: BSD-3-Clause
# which.sh - for scripts, to be sourced: PYTHON is a Python 3.9 or later with NumPy, unless it is
# set; empty if there is none.
if [ -z "${PYTHON:-}" ]; then
	for PYTHON in python3 /usr/bin/python3 ""; do
		[ -n "$PYTHON" ] || break
		"$PYTHON" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 9))' 2>/dev/null &&
			break
	done
fi
