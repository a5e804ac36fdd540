#!/usr/bin/env python3
"""Runs kvc on bad input: bad_inputs.py KVC [TEXT]  (TEXT selects cases by name)

Each case must end with its exit code and exactly one line on stderr that begins
"kvc: error: "; it must leave every file as it was and no other one behind.
Before the cases a good run shows that nothing but the named fault is wrong.
"""

import concurrent.futures
import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

import cases
from files import SPEC, as_text, good_file

LIMIT = 120  # seconds that one call may take
OLD_OUTPUT = b"what an earlier run has left"
NAMES = {"spec": "spec.json", "in": "in.safetensors", "out": "out.safetensors"}


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def fill(text):
    for name, value in NAMES.items():
        text = text.replace("{" + name + "}", value)
    return text


def call(kvc, folder, args, file_limit=None):
    limit = file_limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit)))
    return subprocess.run([kvc, *map(fill, args)], cwd=folder, capture_output=True, timeout=LIMIT, check=False, preexec_fn=limit)


def make(folder, case=None):
    (folder / NAMES["spec"]).write_bytes(as_text(SPEC) if case is None or case.spec_bytes is None else case.spec_bytes)
    (folder / NAMES["in"]).write_bytes(good_file() if case is None or case.input_bytes is None else case.input_bytes)
    (folder / NAMES["out"]).write_bytes(OLD_OUTPUT)
    for name, content in (case.files if case else {}).items():
        (folder / name).write_bytes(content)


def faults(kvc, case):
    """What is wrong with how kvc took this case."""
    with tempfile.TemporaryDirectory(prefix="kvc-bad-") as name:
        folder = pathlib.Path(name)
        make(folder, case)
        before = snapshot(folder)
        result = call(kvc, folder, case.args, case.file_limit)
        after = snapshot(folder)
    found = []
    if result.returncode != case.code:
        found.append(f"exit code {result.returncode}, expected {case.code}")
    error = result.stderr.decode(errors="replace")
    if error.count("\n") != 1 or not error.endswith("\n") or not error.startswith("kvc: error: "):
        found.append("expected one line that begins 'kvc: error: '")
    if fill(case.message) not in error:
        found.append(f"expected {fill(case.message)!r} in the message")
    if result.stdout:
        found.append(f"{len(result.stdout)} bytes on stdout, expected none")
    for path in sorted(set(before) | set(after)):
        if path not in after:
            found.append(f"{path} is gone")
        elif path not in before:
            found.append(f"{path} has appeared")
        elif before[path] != after[path]:
            found.append(f"{path} has changed")
    if found:
        found.append("stderr: " + error.strip())
    return found


def good_run(kvc):
    with tempfile.TemporaryDirectory(prefix="kvc-bad-") as name:
        folder = pathlib.Path(name)
        make(folder)
        result = call(kvc, folder, cases.SPECS[0].args)
        left = sorted(path.name for path in folder.iterdir())
        expected = sorted(["dump", "stats", *NAMES.values()])
        replaced = (folder / NAMES["out"]).read_bytes() != OLD_OUTPUT
    found = []
    if result.returncode != 0 or result.stderr:
        found.append(f"exit code {result.returncode}: {result.stderr.decode(errors='replace').strip()}")
    elif left != expected or not replaced:
        found.append(f"files {left}, expected {expected} with a new output")
    return found


def killed_run(kvc, number):
    """A run that a signal ends: by that signal, with the files as they were."""
    with tempfile.TemporaryDirectory(prefix="kvc-bad-") as name:
        folder = pathlib.Path(name)
        make(folder)
        before = sorted(path.name for path in folder.iterdir())
        # Outputs are renamed after printing, which a full pipe holds up.
        reader, writer = os.pipe()
        size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * size)
        args = ["run", NAMES["spec"], "--inputs", NAMES["in"], "--output", NAMES["out"]]
        no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        program = subprocess.Popen([kvc, *args], cwd=folder, stdout=writer, stderr=subprocess.PIPE, preexec_fn=no_core)
        for _ in range(6000):
            if list(folder.glob(".kvc-*")) or program.poll() is not None:
                break
            time.sleep(0.01)
        opened = bool(list(folder.glob(".kvc-*")))
        program.send_signal(number)
        try:
            program.communicate(timeout=LIMIT)
        finally:
            program.kill()
            os.close(reader)
            os.close(writer)
        left = sorted(path.name for path in folder.iterdir())
        changed = (folder / NAMES["out"]).read_bytes() != OLD_OUTPUT
    found = []
    if not opened:
        found.append("expected a temporary file before the signal")
    if program.returncode != -number:
        found.append(f"exit code {program.returncode}, expected {-number}")
    if left != before or changed:
        found.append(f"files {left}, expected {before} with the old output")
    return found


def found_by(future):
    """A call that does not end fails its own case, not the others."""
    try:
        return future.result()
    except subprocess.TimeoutExpired as error:
        return [f"no end within {error.timeout} s: {' '.join(error.cmd)}"]


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip())
        return 2
    kvc = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2] if len(sys.argv) == 3 else ""
    chosen = [case for case in cases.ALL if wanted in case.name]
    names = [case.name for case in cases.ALL]
    assert len(set(names)) == len(names), "two cases have one name"
    assert all(case.message for case in cases.ALL), "a case takes any message"
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = {"a good run": pool.submit(good_run, kvc)}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU):
            results[f"a run that {number.name} ends"] = pool.submit(killed_run, kvc, number)
        results.update((case.name, pool.submit(faults, kvc, case)) for case in chosen)
        for name, future in results.items():
            found = found_by(future)
            if found:
                bad += 1
                print(f"FAILED {name}\n  " + "\n  ".join(found))
    print(f"{len(results) - bad} passed, {bad} failed")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
