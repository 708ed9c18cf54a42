# Suites that are scripts of their own: faults, installation, Global Arrays, NWChem. Each prints why it skips.
# Those that measure or kill run alone.
# SPDX-License-Identifier: BSD-3-Clause
