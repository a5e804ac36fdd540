#!/usr/bin/env python3
"""Seeds bugs in the cache manager and says which test catches which.

  tools/scripts/mutate_manager.py build/release             all of them
  tools/scripts/mutate_manager.py build/release NAME ..     these
  tools/scripts/mutate_manager.py build/release --table F   writes F too
  tools/scripts/mutate_manager.py --match                   only looks whether
                                                            the source matches

A bug is a small edit of one file of runtime/src/cache/kvc/Manage. The file with
the bug is compiled and linked before the library, whose own is then left out:
nothing in the source or in the build folder changes. Fails if a bug lives, or
if the text that it replaces is not in its file exactly once.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = "runtime/src/cache/kvc/Manage"
PROGRAMS = ["runtime_manager_proof_test", "runtime_manager_test"]
# A sample of the random lists finds nearly all; shrinking is for people.
ENVIRONMENT = {"KVC_MANAGER_SEEDS": "2000", "KVC_MANAGER_DEPTH": "4", "KVC_MANAGER_SHRINK": "0"}
SECONDS = 120

# Name, file, what stands there, what it becomes.
BUGS = [
    ("writes-published-blocks", "Append.cpp",
     "if (blocks.isWritable(source)) {", "if (blocks.references[source] == 1) {"),
    ("writes-shared-blocks", "Append.cpp",
     "if (blocks.isWritable(source)) {", "if (!blocks.isEntry(source)) {"),
    ("plans-no-room-for-copies", "Append.cpp",
     "    ++wanted.byPool[size_t(pool)];\n    ++wanted.copies;", "    ++wanted.copies;"),
    ("copies-miss-their-first-row", "Append.cpp",
     "begin = std::max(begin, tokens.begin) - tokens.begin;",
     "begin = std::max(begin, tokens.begin) - tokens.begin + 1;"),
    ("copies-miss-their-last-row", "Append.cpp",
     "end = std::min(end, tokens.end) - tokens.begin;",
     "end = std::min(end, tokens.end) - tokens.begin - 1;"),
    ("blocks-forget-who-wrote-them", "Append.cpp",
     "const int64_t step = std::max(blocks.written[source], steps.open());",
     "const int64_t step = steps.open();"),
    ("commit-keeps-blocks-of-drafts", "Append.cpp",
     "    trimBody(groups[g], held, groups[g].bodyBlocks(held.ends));\n"
     "    trimRaw(groups[g], held, held.ends, sequence->committed);\n    freeBehindWindow",
     "    trimRaw(groups[g], held, held.ends, sequence->committed);\n    freeBehindWindow"),
    ("commit-frees-no-window", "Append.cpp",
     "    freeBehindWindow(groups[g], held, sequence->committed);\n", ""),
    ("rollback-keeps-extents", "Append.cpp",
     "    Held &held = sequence->groups[g];\n    held.nextEnds = held.ends;",
     "    Held &held = sequence->groups[g];\n    held.ends = held.nextEnds;"),
    ("commit-accepts-too-few", "Append.cpp",
     "if (accepted < sequence->newTokens ||", "if (accepted < 0 ||"),
    ("commit-accepts-too-many", "Append.cpp",
     "accepted > reserved)", "accepted > reserved + 1)"),
    ("waits-for-nothing", "Append.cpp",
     "wanted.byPool[i] <= later ? KVC_WAIT", "wanted.byPool[i] >= 0 ? KVC_WAIT"),
    ("never-waits", "Append.cpp",
     "wanted.byPool[i] <= later ? KVC_WAIT", "wanted.byPool[i] < 0 ? KVC_WAIT"),
    ("appends-with-one-block-too-few", "Append.cpp",
     "if (wanted.byPool[i] <= blocks.available(int32_t(i)) ||",
     "if (wanted.byPool[i] <= blocks.available(int32_t(i)) + 1 ||"),
    ("appends-twice-to-one", "Append.cpp",
     "  if (marked < count)\n    return failTwice", "  if (marked < 0)\n    return failTwice"),
    ("drafts-advance-extents", "Append.cpp",
     "{sequence.committed, length, sequence.pending});",
     "{sequence.committed, sequence.pending, sequence.pending});"),
    ("appends-belong-to-no-step", "Append.cpp",
     "    sequence.lastStep = std::max(sequence.lastStep, steps.open());\n", ""),
    ("raw-rows-are-lost-sight-of", "Append.cpp",
     "held.firstRaw = std::min(held.firstRaw, wanted.begin);", "held.firstRaw = wanted.end;"),
    ("evicts-what-steps-read", "Blocks.cpp",
     "pool.freeCount() + pool.cached.count - pool.waitingCount();",
     "pool.freeCount() + pool.cached.count;"),
    ("no-quarantine", "Blocks.cpp",
     "const bool hasPassed = fence[block] <= passed;", "const bool hasPassed = true;"),
    ("quarantine-ends-a-step-early", "Blocks.cpp",
     "const bool hasPassed = fence[block] <= passed;",
     "const bool hasPassed = fence[block] <= passed + 1;"),
    ("fences-are-not-moved-on", "Blocks.cpp", "  fence[block] = now;\n", ""),
    ("only-the-last-step-releases", "Blocks.cpp",
     "for (int64_t step = from; step", "for (int64_t step = through; step"),
    ("gone-entries-stay-pinned", "Blocks.cpp", "  keeps[block] = 0;\n", ""),
    ("unpinned-blocks-are-not-cached", "Blocks.cpp",
     "references[block] == 0 && keeps[block] == 1;", "references[block] == 1 && keeps[block] == 1;"),
    ("lists-lose-their-end", "Blocks.cpp",
     "(list.last == block ? list.last : previous[next[block]]) = previous[block];",
     "if (list.last != block)\n    previous[next[block]] = previous[block];"),
    ("generations-stand-still", "Sequences.cpp",
     "const uint32_t next = sequence.generation + 1;", "const uint32_t next = sequence.generation;"),
    ("stale-handles-are-taken", "Sequences.cpp",
     "slots[number].generation != generation)", "slots[number].generation < generation)"),
    ("fork-holds-all-blocks-but-the-last", "Sequences.cpp",
     "      if (number)\n        blocks.addReference", "      if (number && number != part.body.back())\n        blocks.addReference"),
    ("fork-holds-no-raw-blocks", "Sequences.cpp",
     "        blocks.addReference(idOf(group.rawPool, part.raw[size_t(i)]));\n", ""),
    ("fork-forgets-failed-steps", "Sequences.cpp", "  made.lastStep = source.lastStep;\n", ""),
    ("fork-forgets-what-windows-freed", "Sequences.cpp",
     "part.freed = std::min(whole.freed, body);", "part.freed = 0;"),
    ("truncate-keeps-raw-rows", "Sequences.cpp",
     "    trimRaw(groups[g], held, held.ends, length);\n", ""),
    ("copies-outlive-their-target", "Sequences.cpp",
     "  if (blocks.references[block] == 1)\n    dropCopiesTo(block);\n", ""),
    ("windows-end-one-key-early", "Groups.cpp",
     "length - window - queries + 1, ends", "length - window - queries + 2, ends"),
    ("windows-forget-queries", "Groups.cpp",
     "length - window - queries + 1, ends", "length - window, ends"),
    ("windows-free-what-is-not-coded", "Groups.cpp",
     "queries + 1, ends.least());", "queries + 1, ends.most());"),
    ("cuts-inside-of-coded-values", "Groups.cpp",
     "return !cuts(ends.key, keyTokens) && !cuts(ends.value, valueTokens);",
     "return !cuts(ends.key, keyTokens);"),
    ("cuts-below-the-sink", "Groups.cpp",
     "const int64_t least = std::max(position, sink);", "const int64_t least = position;"),
    ("extents-go-back", "Groups.cpp",
     "std::max(ends.key, spec::codedEnd(spec->spec, Tensor::Key, length)),",
     "spec::codedEnd(spec->spec, Tensor::Key, length),"),
    ("tokens-are-not-compared", "Prefixes.cpp",
     "size_t(name.tokens.size()) * sizeof(int32_t)) == 0;", "size_t(name.tokens.size()) * 0) == 0;"),
    ("namespaces-are-not-compared", "Prefixes.cpp", " && spaces[block] == name.space &&", " &&"),
    ("entries-of-old-generations-are-taken", "Prefixes.cpp",
     "generations[block] == handle >> 32 ?", "generations[block] >= handle >> 32 ?"),
    ("one-unpin-is-not-enough", "Prefixes.cpp", "if (--pins[leaf] > 0)", "if (--pins[leaf] >= 0)"),
    ("matches-what-is-not-computed", "Publish.cpp",
     "if (!found || (steps.open() && blocks.written[found] == steps.open()))", "if (!found)"),
    ("matches-leave-no-query", "Publish.cpp",
     "attendLength - std::max<int64_t>(group.recent, 1));", "attendLength - group.recent);"),
    ("adopts-what-is-not-computed", "Publish.cpp",
     "if (steps.open() && lastStep == steps.open())", "if (steps.open() && lastStep < 0)"),
    ("adopts-what-windows-passed", "Publish.cpp",
     "      if (freed.contains(block))\n        continue;\n", ""),
    ("adopts-into-no-extents", "Publish.cpp",
     "held.ends = held.nextEnds = {length, length};", "held.nextEnds = {length, length};"),
    ("publishes-half-coded-blocks", "Publish.cpp",
     "std::min(count, held.ends.least())", "std::min(count, held.ends.most())"),
    ("pins-end-with-the-shortest", "Retention.cpp", "pinEnd = std::max(pinEnd, end);", "pinEnd = end;"),
    ("pins-end-late", "Retention.cpp", "prefixes.pinEnds[leaf] > now)", "prefixes.pinEnds[leaf] >= now)"),
    ("evicts-the-dearest", "Retention.cpp", "score < least", "score > least"),
    ("evicts-followers-that-steps-read", "Retention.cpp",
     "(isAny || steps.hasPassed(blocks.fence[child])))", "steps.hasPassed(blocks.fence[child]))"),
    ("later-steps-do-not-fail", "Retention.cpp", "sequence.lastStep >= step)", "sequence.lastStep == step)"),
    ("entries-of-later-steps-stay", "Retention.cpp",
     "blocks.written[block] >= step)", "blocks.written[block] == step)"),
    ("copies-hold-their-source-for-ever", "ManagerAPI.cpp",
     "      m.blocks.dropReference(copy.source, m.steps.lastBegun());\n", ""),
    ("last-pages-are-full", "Tables.cpp",
     "last_page_len[i] = blocks ? int32_t(held.nextEnds.most() -\n"
     "                                          layers.tokensOf(blocks - 1).begin)\n"
     "                                : 0;",
     "last_page_len[i] = blocks ? int32_t(layers.page) : 0;"),
]


def mutated(bug):
    """The file's text with the bug; a message where it does not match."""
    name, file, old, new = bug
    text = (ROOT / SOURCES / file).read_text()
    found = text.count(old)
    if found != 1:
        sys.exit(f"{name}: expected once in {SOURCES}/{file}, got {found} times:\n{old}\n"
                 "The manager has changed: change the bug in tools/scripts/mutate_manager.py.")
    return text.replace(old, new)


def commands(build, target):
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if not line.startswith("ninja:")]


def without_link_prefix(line):
    """`: && c++ .. && :` of CMake."""
    return re.sub(r"^: && | && :.*$", "", line)


class Builder:
    def __init__(self, build):
        self.build = build
        self.links = {p: without_link_prefix(commands(build, f"test-bin/{p}")[-1]) for p in PROGRAMS}
        self.compiles = {}
        for line in commands(build, f"test-bin/{PROGRAMS[0]}"):
            found = re.search(SOURCES + r"/(\w+\.cpp)$", line)
            if found:
                self.compiles[found[1]] = line

    def run(self, line):
        done = subprocess.run(line, shell=True, cwd=self.build, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{line}\n{done.stdout}{done.stderr}")

    def test(self, bug, folder):
        """The tests that catch it."""
        name, file = bug[:2]
        source, made = folder / f"{name}.cpp", folder / f"{name}.o"
        source.write_text(mutated(bug))
        line = self.compiles[file]
        # Headers compiled with other flags do not fit.
        line = re.sub(r" -Xclang -include(-pch)? -Xclang \S+", "", line)
        line = re.sub(r" -M[DTF]\b( \S+\.o(\.d)?)?", "", line)
        line = re.sub(r" -o \S+ -c \S+$", f" -O0 -w -o {made} -c {source}", line)
        self.run(line.replace(" -Werror", ""))
        caught = []
        for program in PROGRAMS:
            binary = folder / f"{name}-{program}"
            self.run(re.sub(r" -o \S+ ", f" -o {binary} {made} ", self.links[program], count=1))
            caught += failures(binary, folder)
            binary.unlink()
        return caught


def failures(binary, folder):
    try:
        done = subprocess.run([binary, "--gtest_filter=Manager*"], cwd=folder, timeout=SECONDS,
                              capture_output=True, text=True, errors="replace",
                              env={**os.environ, **ENVIRONMENT})
        out, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        out, code = (late.stdout or b"").decode(errors="replace"), "late"
    failed = list(dict.fromkeys(re.findall(r"^\[  FAILED  \] (\w+\.\w+) \(", out, re.M)))
    started = re.findall(r"^\[ RUN      \] (\S+)", out, re.M)
    if code not in (0, 1) and started and started[-1] not in failed:
        failed.append(started[-1] + (" (hangs)" if code == "late" else " (crashes)"))
    return failed


def table(results):
    lines = ["# Which test catches which bug", "",
             "Written by `tools/scripts/mutate_manager.py build/release --table "
             "test/unit/runtime/manager/MUTANTS.md`: each row is an edit of the cache manager's source "
             "with which the tests were built and run. A test that stops the program ends its list.", "",
             "| bug | in | caught by | tests |", "|---|---|---|---|"]
    for (name, file, _, _), caught in results:
        first = ", ".join(f"`{test}`" for test in caught[:3]) if caught else "**nothing**"
        lines.append(f"| {name} | {file} | {first} | {len(caught)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--match", action="store_true")
    given = parser.parse_args()
    unknown = set(given.names) - {bug[0] for bug in BUGS}
    if unknown:
        sys.exit(f"expected names of bugs, got {', '.join(sorted(unknown))}")
    for bug in BUGS:
        mutated(bug)
    if given.match:
        print(f"{len(BUGS)} bugs match the source")
        return
    if not given.build:
        parser.error("expected a build folder")
    builder = Builder(os.path.abspath(given.build))
    results, living = [], 0
    bugs = [bug for bug in BUGS if not given.names or bug[0] in given.names]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        for bug, caught in zip(bugs, pool.map(lambda bug: builder.test(bug, pathlib.Path(folder)), bugs)):
            living += not caught
            results.append((bug, caught))
            print(f"{bug[0]:40} {len(caught):3} {', '.join(caught[:4]) or 'LIVES'}", flush=True)
    print(f"{len(results) - living} of {len(results)} bugs caught")
    if given.table:
        pathlib.Path(given.table).write_text(table(results))
    sys.exit(living > 0)


if __name__ == "__main__":
    main()
