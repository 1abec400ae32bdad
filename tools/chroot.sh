# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Chroots of releases of Debian, for the scripts of this folder that set root and read this file with `.`:
#
#     chroot_make FOLDER RELEASE [PACKAGES]     a minimal system in FOLDER, unless it is there already
#     chroot_run FOLDER COMMAND...              runs it there, as CHROOT_USER=root
#
# Needs root and debootstrap. MIRROR=URL is where Debian's packages come from, else where this system
# takes them from. Nothing outside FOLDER is written, and nothing stays mounted.

chroot_make() {
    if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
        echo "$0: needs root and debootstrap (apt-get install debootstrap)" >&2
        exit 2
    fi
    if [ -e "$1/.cellar-ready" ]; then return; fi
    mkdir -p "$1"
    # A debootstrap that is older than the release installs it as it does sid.
    chroot_script=/usr/share/debootstrap/scripts/$2
    if [ ! -e "$chroot_script" ]; then chroot_script=/usr/share/debootstrap/scripts/sid; fi
    chroot_mirror=$("$root/tools/debian-mirror")
    debootstrap --variant=minbase ${3:+--include="$3"} "$2" "$1" "$chroot_mirror" "$chroot_script"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/cellar" # it can be made again
    # A mirror may be a snapshot of some day.
    echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/cellar"
    touch "$1/.cellar-ready"
}

# With a /proc that is gone when the command ends.
chroot_run() {
    chroot_folder=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME="${CHROOT_HOME:-/root}" DEBIAN_FRONTEND=noninteractive \
        unshare --mount sh -c 'mount -t proc proc "$0/proc" && user=$1 && shift && exec chroot --userspec="$user" "$0" "$@"' \
        "$chroot_folder" "${CHROOT_USER:-0:0}" "$@"
}
