"""Every op of a dialect is documented and every constraint has its test.

check_ods.py LLVM_TBLGEN TD PAGE INVALID.. -- INCLUDE..: each op in TD has a
summary, a table of shapes and an example, and is in the generated PAGE; each
attribute and type of its dialect has a summary; each constraint `C1` (or `L1`)
in their texts has a function @<mnemonic>_c1.. in one of the INVALID files, and
the other way round.
"""

import json
import re
import subprocess
import sys


def constraints(description):
    return {f"{kind.lower()}{number}" for kind, number in re.findall(r"^ *- ([CL])(\d+):", description, re.M)}


def main():
    split = sys.argv.index("--")
    tblgen, td, page, *tests = sys.argv[1:split]
    command = [tblgen, "--dump-json", td] + [f"-I{folder}" for folder in sys.argv[split + 1 :]]
    records = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    tested = set()
    for test in tests:
        with open(test, encoding="utf-8") as file:
            tested |= set(re.findall(r"@(\w+?)_([cl]\d+)(?:_\w+)?[ (]", file.read()))

    errors, known, names = [], set(), set()

    def check_constraints(name, text):
        names.add(name)
        for constraint in sorted(constraints(text)):
            known.add((name, constraint))
            if (name, constraint) not in tested:
                errors.append(f"{name}: no test @{name}_{constraint}")

    def of(kind):
        return [records[name] for name in records["!instanceof"][kind]]

    with open(page, encoding="utf-8") as file:
        documented = set(re.findall(r"^### `(\w+\.\w+)`", file.read(), re.M))

    for record in of("Op"):
        name, text = record["opName"], record["description"] or ""
        if not record["summary"]:
            errors.append(f"{name}: no summary")
        if "```mlir" not in text:
            errors.append(f"{name}: no example")
        if (record["arguments"]["args"] or record["results"]["args"]) and name != "attention_spec" and "|---|" not in text:
            errors.append(f"{name}: no table of shapes")
        dialect = records[record["opDialect"]["def"]]["name"]
        if f"{dialect}.{name}" not in documented:
            errors.append(f"{name}: not in {page}")
        check_constraints(name, text)
    dialects = {record["opDialect"]["def"] for record in of("Op")}
    defs = [record for kind in ("AttrDef", "TypeDef") for record in of(kind) if record["dialect"]["def"] in dialects]
    for record in defs:
        name = record["mnemonic"]
        if not record["summary"]:
            errors.append(f"{name}: no summary")
        check_constraints(name, record["description"] or "")
    errors += [f"{name}: test @{name}_{c} of no constraint" for name, c in sorted(tested - known) if name in names]

    for error in errors:
        print(error)
    print(f"{len(of('Op'))} ops, {len(defs)} attributes and types, {len(known)} constraints, {len(errors)} errors")
    return bool(errors)


sys.exit(main())
