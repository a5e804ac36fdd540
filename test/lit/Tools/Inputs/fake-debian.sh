#!/usr/bin/env bash
# Stands in for the programs by whose names it is linked: says how it was called.
# FAKE_CANDIDATE is the LLVM 22 that apt knows; FAKE_INSTALLED, a package that is there.
name=${0##*/}
case "$name" in
dpkg-query) [ "${!#}" = "${FAKE_INSTALLED:-}" ] && echo "install ok installed"; exit ;;
apt-cache) echo "  Candidate: ${FAKE_CANDIDATE:-(none)}"; exit ;;
id) echo 0; exit ;;
tee) text=$(cat); echo "$name $* <- $text" >&2; exit ;;
esac
echo "$name $*"
