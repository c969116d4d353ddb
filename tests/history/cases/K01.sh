#!/usr/bin/env bash
# K01  A shallow clone silently shortens history
set -euo pipefail
mkdir -p "${1:?directory}" "$1.aux"; AUX=$(cd "$1.aux"; pwd); export AUX; cd "$1"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.invalid GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.invalid
git init -q -b main full; cd full; for i in 1 2 3 4 5 6; do printf 'x = %d\n' $i > a.py; printf 'y\n' > f$i.py; git add .; git commit -qm "c$i"; done; cd ..
git clone -q --depth 2 "file://$PWD/full" shallow
