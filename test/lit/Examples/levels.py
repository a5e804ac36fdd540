"""README.md's spec is the example of its name, and what it shows of a stage is in the IR of that stage.

levels.py README kvc, in a folder that has examples/: ops, attributes, digits and
tiles of the block that begins with "// kernels", in what the command before it
prints.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

SHOWN = [
    r"(?<![#!\w])(?:kvc|kvk|arith)\.[a-z_]+",  # an op
    r'\w+ = (?:"\w+"|\d+\b)',  # an attribute
    r"\w+ = \[\w+(?:, \w+)*",  # digits, as far as they are shown
    r"(?:tensor|tile)<[\dx]+x\w+, #kvc\.dims<[a-z, ]+>",
]


def blocks_of(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wrong_spec(kvc, text):
    """The block and examples/specs/NAME.json have one canonical form."""
    name = json.loads(text)["name"]
    pathlib.Path("shown.json").write_text(text, encoding="utf-8")
    run(kvc, "inspect", "shown.json")
    forms = [run(kvc, "translate", path, "--to", "json") for path in ("shown.json", f"examples/specs/{name}.json")]
    return [] if forms[0] == forms[1] else [f"the spec {name} is not examples/specs/{name}.json: {forms[0]}"]


def missing(stage, shown, printed):
    """(what is compared, what of it the stage has not)"""
    things = sorted({match.group() for pattern in SHOWN for match in re.finditer(pattern, shown)})
    return things, [f"{stage}: no {thing}" for thing in things if not re.search(re.escape(thing) + r"(?!\w)", printed)]


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    kvc = sys.argv[2]
    wrong = wrong_spec(kvc, blocks_of(text, "json")[0])
    command = shlex.split(re.search(r"`kvc (compile [^`]* --stage all [^`]*)`", text).group(1))
    run(kvc, *command)
    files = {path.suffixes[-2][1:]: path for path in pathlib.Path(command[command.index("--out") + 1]).glob("*.mlir")}
    levels = next(block for block in blocks_of(text, "mlir") if block.startswith("// kernels"))
    parts = re.split(r"^// (\w+)", levels, flags=re.MULTILINE)[1:]
    compared = 0
    stages = dict(zip(parts[::2], parts[1::2]))
    for stage, shown in stages.items():
        things, absent = missing(stage, shown, files[stage].read_text(encoding="utf-8"))
        compared += len(things)
        wrong += absent if things else [f"{stage}: nothing to compare"]
    print(f"{len(stages)} stages, {compared} things compared, {len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
