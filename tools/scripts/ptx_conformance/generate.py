#!/usr/bin/env python3
"""Makes test/data/ptx/conformance: a PTX file for each form of instruction, with
the bits that it must leave, computed here in whole numbers and fractions.

    generate.py [--check]    --check: writes nothing, fails if a file differs
"""
import os
import sys

import emit
# Each adds its cases.
import float_cases  # noqa: F401
import integers  # noqa: F401
import machine_cases  # noqa: F401
import mma_cases  # noqa: F401

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
FOLDER = os.path.normpath(os.path.join(ROOT, "test", "data", "ptx", "conformance"))

if sys.argv[1:] not in ([], ["--check"]):
    sys.exit(f"usage: {sys.argv[0]} [--check]")
if sys.argv[1:]:
    different = emit.differing(FOLDER)
    if different:
        sys.exit(f"{len(different)} files are not as generate.py makes them: {', '.join(different[:8])}")
else:
    emit.write(FOLDER)
print(f"{len(emit.cases)} cases")
