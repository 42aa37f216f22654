#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# distribution_test.sh SUITE SOURCE_FOLDER: what is committed there runs both commands of README.md, at scale smoke, in
# a bare root of the Debian release SUITE: as root, then as a user with sudo who finds a package missing.
# Code 77 where no such root can be made. A compiler cache in $CCACHE_DIR is used.
set -euo pipefail
suite=$1 source=$2
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root makes a root of $suite"
for needed in mmdebstrap git unshare; do
  command -v "$needed" >/dev/null || skip "there is no $needed here"
done
unshare --mount --pid --fork true 2>/dev/null || skip "nothing can be mounted here"

folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | head -n 1) || true
mmdebstrap --variant=minbase --include=ca-certificates "$suite" "$root" ${mirror:+"$mirror"} >"$folder/log" 2>&1 ||
  skip "no root of $suite can be made ($(grep -m 1 '^E: ' "$folder/log" || tail -n 1 "$folder/log"))"
mkdir "$root/srv/dpsosp" "$root/ccache"
git -c safe.directory='*' -C "$source" archive HEAD | tar -x -C "$root/srv/dpsosp"

# in_root COMMANDS: with the mounts that every container has, which end with the commands
in_root() {
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    [ -z "${CCACHE_DIR:-}" ] || mount --bind "$CCACHE_DIR" "$root/ccache"
    exec env --ignore-environment LANG=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/ccache \
      ${CMAKE_BUILD_PARALLEL_LEVEL+"CMAKE_BUILD_PARALLEL_LEVEL=$CMAKE_BUILD_PARALLEL_LEVEL"} \
      chroot "$root" bash -euc "cd /srv/dpsosp; $2"' bash "$root" "$1" >"$folder/log" 2>&1 </dev/null ||
    { tail -n 60 "$folder/log" >&2; echo "$suite: failed: $1" >&2; exit 1; }
}

# step NAME COMMAND: one line of what it took
step() {
  local begin=$SECONDS
  in_root "$2"
  echo "$suite, $1: ${2##* -- }: $((SECONDS - begin)) s"
}

step root './run reproduce --scale smoke'
step root './run test'
in_root 'apt-get install --yes --no-install-recommends sudo
  apt-get remove --yes python3-matplotlib
  useradd --create-home guest
  echo "guest ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/guest
  chown -R guest: /srv/dpsosp'
as_guest='runuser -u guest -- env -u CCACHE_DIR HOME=/home/guest'
step 'with sudo' "$as_guest ./run reproduce --scale smoke"
step 'with sudo' "$as_guest ./run test"
