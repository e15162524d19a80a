# A machine that systemd boots: its root is that of this machine, its changes are kept in memory until it ends.
# Usage, as root in the network namespace that it shall have, and in a mount namespace of its own:
#   sh booted-machine.sh NAME DIRECTORY REPOSITORY PLACE
# NAME is that of its cgroup. DIRECTORY, which is empty, gets its file systems. PLACE is where it has the REPOSITORY.
# SIGTERM ends it and leaves nothing. Not systemd-nspawn: its package may replace the systemd of this machine.
set -eu
name=$1 directory=$2 repository=$3 place=$4

# What comes with each boot and is gone with it.
boot() {
  cd "$directory/root"
  mount -t proc proc proc
  # Settings of the kernel are this machine's too, but for those of the network.
  mount --bind proc/sys/net proc/sys/net
  mount --rbind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 dev dev
  mkdir dev/net dev/pts dev/shm
  cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev
  cp -a /dev/net/tun dev/net
  mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs tmp tmp
  pivot_root . mnt
  umount --lazy /mnt
  # No generators: they make units of what is this machine's own, like its disks.
  exec env -i container=test SYSTEMD_GENERATOR_PATH=/none \
    setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio /lib/systemd/systemd --unit=multi-user.target
}

if [ "${5:-}" = boot ]; then boot; fi

# Not on the disk: an overlay cannot keep its changes inside of what it lies over.
mount -t tmpfs machine "$directory"
cd "$directory"
mkdir cgroup repository root changes changes/root changes/root.work changes/clone changes/clone.work
mount -t overlay machine -o "lowerdir=/,upperdir=changes/root,workdir=changes/root.work" root
# What this machine has of its own units and of an installation is not for the other to start.
rm -rf root/etc/systemd/system root/etc/postern root/var/lib/postern
mkdir -p root/etc/systemd/system "root$place"
mount --bind "$repository" repository
mount -t overlay clone -o "lowerdir=repository,upperdir=changes/clone,workdir=changes/clone.work" "root$place"
mount -t cgroup2 cgroup2 cgroup
mkdir "cgroup/$name"

# What an init kills is gone when it is gone itself, and only then its cgroup can be removed.
trap 'pkill -KILL -P "$machine" || true' TERM
rebooted=129
code=$rebooted
while [ "$code" = "$rebooted" ]; do
  (
    echo 0 >"cgroup/$name/cgroup.procs"
    exec setpriv --pdeathsig=KILL unshare --pid --fork --kill-child --mount --uts --ipc --cgroup \
      sh "$0" "$@" boot
  ) &
  machine=$!
  code=0
  wait "$machine" || code=$?
done
wait
find "cgroup/$name" -depth -type d -exec rmdir {} +
