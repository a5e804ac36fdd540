"""Well-formed inputs of `kvc run`, and the bytes of safetensors files, good or bad."""

import copy
import json
import struct

BYTES = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4, "I64": 8, "F64": 8, "U8": 1}

SPEC = {
    "kvc": 1,
    "name": "small",
    "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 16},
    "io": {"query": "f16"},
    "key": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}},
    "value": {"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "min"},
    "layout": {"kind": "paged", "page": 16, "order": "auto"},
}


def spec(**changes):
    """SPEC with values replaced: attention__q_heads=3 sets attention.q_heads; None removes."""
    result = copy.deepcopy(SPEC)
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
        if value is None:
            del place[key]
        else:
            place[key] = value
    return result


def as_text(document):
    return json.dumps(document).encode()


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


class Tensor:
    """Elements are all `fill`; `patch` maps an index to another value."""

    def __init__(self, dtype, shape, fill=0.5, patch=None):
        self.dtype, self.shape, self.fill, self.patch = dtype, list(shape), fill, patch or {}

    def data(self):
        code = {"F32": "f", "F16": "e", "I32": "i", "I64": "q", "F64": "d", "U8": "B", "BF16": "H"}[self.dtype]
        values = [self.fill if code in "fed" else int(self.fill)] * count(self.shape)
        for index, value in self.patch.items():
            values[index] = value
        return struct.pack(f"<{len(values)}{code}", *values)


def starts(*offsets):
    return Tensor("I32", [len(offsets)], 0, dict(enumerate(offsets)))


def inputs(**changes):
    """The tensors of a good input file: 2 sequences, 3 queries, 7 keys; None removes one."""
    tensors = {
        "q": Tensor("F16", [3, 4, 16]),
        "k": Tensor("F16", [7, 2, 16]),
        "v": Tensor("F16", [7, 2, 16]),
        "cu_seqlens_q": starts(0, 1, 3),
        "cu_seqlens_kv": starts(0, 5, 7),
    }
    tensors.update(changes)
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def layout_of(tensors):
    """Header entries and data of tensors, one behind the other."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        piece = tensor.data()
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    return header, data


def file_of(header, data):
    """A safetensors file; `header` is an object, or the text itself."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def good_file(**changes):
    return file_of(*layout_of(inputs(**changes)))


def edited(edit, **changes):
    """A good file whose header, or header and data, went through `edit`."""
    header, data = layout_of(inputs(**changes))
    result = edit(header, data)
    return file_of(*result) if isinstance(result, tuple) else file_of(result or header, data)
