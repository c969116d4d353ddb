#!/usr/bin/env bash
# K03  Repository with no commit, detached HEAD, no branch main
set -euo pipefail
mkdir -p "${1:?directory}" "$1.aux"; AUX=$(cd "$1.aux"; pwd); export AUX; cd "$1"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.invalid GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.invalid
git init -q unborn; printf 'x\n' > unborn/a.py; mkdir notgit; printf 'x\n' > notgit/a.py
git init -q -b trunk detached; cd detached; for i in 1 2 3; do printf '%d\n' $i > a.py; git add .; git commit -qm c$i; done; git checkout -q HEAD~2; cd ..; git clone -q --bare detached bare.git
