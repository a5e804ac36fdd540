"""Tests of single passes and tools: kvc-opt and kvc against FileCheck."""

import os
import shutil
import subprocess
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
    ("%docs", config.docs_dir),
    ("%build", os.path.dirname(config.kvc_bin_dir)),
    ("%python", sys.executable),
    ("%mlir_include", config.mlir_include_dirs.replace(";", " ")),
]

# NVIDIA's assembler, where kvc compile looks for it.
if shutil.which("ptxas") or os.access("/usr/local/cuda/bin/ptxas", os.X_OK):
    config.available_features.add("ptxas")

# A Python with numpy, if there is one: for tests against computations in numpy.
for python in (sys.executable, shutil.which("python3"), "/usr/bin/python3"):
    if python and os.path.exists(python) and not subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        config.available_features.add("numpy")
        config.substitutions.append(("%numpy_python", python))
        break
