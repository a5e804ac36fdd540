"""Writes the tensors of a safetensors file with k_pre_rope in place of k: pre-rope.py IN OUT"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header, data = json.loads(file.read(length)), file.read()
del header["k"]
header.pop("__metadata__", None)
header["k"] = header.pop("k_pre_rope")
kept = b""
for tensor in header.values():
    begin, end = tensor["data_offsets"]
    tensor["data_offsets"] = [len(kept), len(kept) + end - begin]
    kept += data[begin:end]
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + kept)
