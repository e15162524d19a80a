# A machine of its own root, processes and mounts, without systemd. SIGKILL of this program ends all that runs on it.
# Usage, as root in the network namespace that it shall have, and in mount and process namespaces of its own:
#   sh fresh-machine.sh ROOT
set -eu
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 dev dev
mkdir dev/net dev/pts dev/shm
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev
cp -a /dev/net/tun dev/net
ln -s /proc/self/fd dev/fd
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=755 run run
mount -t tmpfs tmp tmp
pivot_root . mnt
umount --lazy /mnt
# An init that takes the orphans, by what each Debian has.
exec perl -e '$0 = "fresh-init"; while (1) { 1 while waitpid(-1, 1) > 0; select undef, undef, undef, 0.1 }'
