"""Tests of single passes and tools: kvc-opt and kvc against FileCheck."""

import os
import sys

import lit.formats

config.name = "kvc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

# The tools of this build come first: an installed kvc must not be what is tested.
config.environment["PATH"] = os.pathsep.join(
    [config.kvc_bin_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)

config.substitutions += [
    ("%data", os.path.join(config.kvc_source_dir, "test", "data")),
    ("%source", config.kvc_source_dir),
    ("%python", sys.executable),
    ("%mlir_include", config.mlir_include_dirs.replace(";", " ")),
]
