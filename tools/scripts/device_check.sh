#!/usr/bin/env bash
# Everything that only a GPU can tell, in at most 8 minutes: all kernels against
# attention in f64, then decode steps beside the device's own copies of memory.
#   device_check.sh [--device cuda|cuda:N|sim] [--out FILE.json] [--tiny]
#                   [--seconds N]   how long it may take, 480 by default
#                   [--build DIR]   of kvc, build/release by default; built where
#                                   there is none, which takes longer
#                   [--packed FILE] what --pack made, for a machine without LLVM
#   device_check.sh --pack FILE.tar.xz   kvc and the libraries that it needs
# --tiny: few small cases, in seconds. sim counts and does not time.
# The last line says how many checks failed; device_check.py says what they are.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$scripts/../.." && pwd)

usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit "$1"
}
fail() {
  echo "device_check: $*" >&2
  exit 1
}

build=$root/build/release
packed=
pack=
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help) usage 0 ;;
  --tiny) arguments+=("$1") && shift ;;
  --device | --out | --seconds | --build | --packed | --pack)
    [ $# -ge 2 ] && [ -n "$2" ] || { echo "device_check: $1: expected a value, got none" >&2 && exit 2; }
    case "$1" in
    --build) build=$2 ;;
    --packed) packed=$2 ;;
    --pack) pack=$2 ;;
    *) arguments+=("$1" "$2") ;;
    esac
    shift 2
    ;;
  *) echo "device_check: unknown option $1; --help lists them" >&2 && exit 2 ;;
  esac
done

# Libraries beside glibc's, which every machine has; a newer one will do.
libraries() {
  ldd "$1" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/lib(c|m|dl|rt|pthread)\.so\.[0-9]+$' || true
}

if [ -n "$pack" ]; then
  [ -x "$build/bin/kvc" ] || fail "--pack: expected $build/bin/kvc, got none; tools/build release kvc makes it"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/bin" "$work/lib"
  cp "$build/bin/kvc" "$work/bin/"
  libraries "$build/bin/kvc" | while read -r library; do cp -L "$library" "$work/lib/"; done
  tar -C "$work" -cf - bin lib | xz -T0 -6 >"$pack.part"
  mv "$pack.part" "$pack"
  echo "$pack: $(stat -c %s "$pack") bytes"
  exit 0
fi

if [ -n "$packed" ]; then
  [ -f "$packed" ] || fail "--packed: expected a file that --pack made, got none at $packed"
  command -v xz >/dev/null || python3 -c 'import lzma' 2>/dev/null || fail "--packed: needs xz, or a python3 with lzma"
  build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
  if command -v xz >/dev/null; then
    xz -dc "$packed" | tar -C "$build" -xf -
  else
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$packed" "$build"
  fi
  export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
elif [ ! -x "$build/bin/kvc" ]; then
  [ "$build" = "$root/build/release" ] || fail "--build: expected $build/bin/kvc, got none"
  echo "device_check: building kvc"
  "$root/tools/build" release kvc ||
    fail "kvc is not built and does not build here; tools/setup says what is missing, and --pack on a machine where it is built makes what runs here"
fi

# What it lacks is told by name: the loader tells one thing at a time.
kvc=$build/bin/kvc
if ! version=$("$kvc" --version 2>&1); then
  missing=$({ ldd "$kvc" 2>/dev/null || true; } | sed -n 's/^\s*\(\S*\) => not found.*/\1/p' | paste -sd ' ')
  fail "$kvc does not start: ${missing:+missing libraries: $missing; --pack on a machine that has them makes what runs here; }$version"
fi
command -v python3 >/dev/null || fail "needs python3, any from 3.8 on, without packages"
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
status=0
python3 "$scripts/device_check.py" --kvc "$kvc" --version "$version" --commit "$commit" "${arguments[@]}" || status=$?
exit "$status"
