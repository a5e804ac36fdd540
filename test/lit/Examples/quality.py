"""What README.md says of a model's quality is what kvc eval measures.

quality.py README KVC DATA: of the table of errors, every preset's on each layer
that DATA holds.
"""

import json
import re
import subprocess
import sys


def main():
    readme, kvc, data = sys.argv[1:]
    with open(readme, encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in file if line.startswith("|")]
    head = next(i for i, row in enumerate(rows) if row[0] == "preset" and any(cell.startswith("layer ") for cell in row))
    table = {}
    for row in rows[head + 2 :]:
        if len(row) != len(rows[head]):
            break
        table[re.match(r"\w+", row[0]).group()] = row
    compared = wrong = 0
    for column, title in enumerate(rows[head]):
        layer = title.removeprefix("layer ")
        if layer not in ("14", "18"):
            continue
        command = [kvc, "eval", "--preset", ",".join(table), "--json", "--inputs", f"{data}/smollm2/smollm2_135m_layer{layer}.safetensors"]
        for measured in json.loads(subprocess.run(command, check=True, capture_output=True).stdout):
            said = table[measured["name"]][column]
            digit = 10.0 ** -len(said.partition(".")[2])
            compared += 1
            if abs(float(said) - measured["relative_error"]) > 0.55 * digit:
                wrong += 1
                print(f"{measured['name']}, layer {layer}: README.md says {said}, kvc eval {measured['relative_error']:.5f}")
    print(f"{compared} errors compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
