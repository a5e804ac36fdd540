"""Every op of a dialect is documented and every constraint has its test.

check_ods.py LLVM_TBLGEN TD INVALID.. -- INCLUDE..: each op in TD has a summary,
a table of shapes and an example; each constraint `C1` (or `L1`) in its text has a
function @<op>_c1.. in one of the INVALID files, and the other way round.
"""

import json
import re
import subprocess
import sys


def constraints(description):
    return {f"{kind.lower()}{number}" for kind, number in re.findall(r"^ *- ([CL])(\d+):", description, re.M)}


def main():
    split = sys.argv.index("--")
    tblgen, td, *tests = sys.argv[1:split]
    command = [tblgen, "--dump-json", td] + [f"-I{folder}" for folder in sys.argv[split + 1 :]]
    records = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    tested = set()
    for test in tests:
        with open(test, encoding="utf-8") as file:
            tested |= set(re.findall(r"@(\w+?)_([cl]\d+)(?:_\w+)?\(", file.read()))

    errors, known = [], set()
    for record in (records[name] for name in records["!instanceof"]["Op"]):
        name, text = record["opName"], record["description"] or ""
        if not record["summary"]:
            errors.append(f"{name}: no summary")
        if "```mlir" not in text:
            errors.append(f"{name}: no example")
        if (record["arguments"]["args"] or record["results"]["args"]) and name != "attention_spec" and "|---|" not in text:
            errors.append(f"{name}: no table of shapes")
        for constraint in constraints(text):
            known.add((name, constraint))
            if (name, constraint) not in tested:
                errors.append(f"{name}: no test @{name}_{constraint}")
    ops = {record["opName"] for record in (records[name] for name in records["!instanceof"]["Op"])}
    errors += [f"{op}: test @{op}_{c} of no constraint" for op, c in sorted(tested - known) if op in ops]

    for error in errors:
        print(error)
    print(f"{len(ops)} ops, {len(known)} constraints, {len(errors)} errors")
    return bool(errors)


sys.exit(main())
