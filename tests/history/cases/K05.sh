#!/usr/bin/env bash
# K05  The answer leaks into the replayed tree
set -euo pipefail
mkdir -p "${1:?directory}" "$1.aux"; AUX=$(cd "$1.aux"; pwd); export AUX; cd "$1"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.invalid GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.invalid
git init -q -b main .; printf 'def total(basket):\n    return sum(basket)\n' > shop.py; printf 'def misc():\n    return 1\n' > misc.py; git add .; git commit -qm start
printf 'def guard_empty(b):\n    return b or [0]\n\ndef total(basket):\n    return sum(guard_empty(basket))\n' > shop.py; printf 'guard empty basket total\n' > CHANGES.md; git add .; git commit -qm 'guard empty basket total'
