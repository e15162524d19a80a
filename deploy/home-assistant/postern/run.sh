#!/bin/sh
# Hands the options to the agent's own user, as whom all else runs. None of their values passes this shell.
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
# The last one is of wireguard-go, where the kernel has no WireGuard.
install -d -o postern -g postern -m 0700 /run/postern /data/node /run/wireguard
# What came back from a backup may belong to another user.
chown -Rh postern:postern /data/node
install -o postern -g postern -m 0400 /data/options.json /run/postern/options.json
exec /bin/sh /opt/postern/as-postern.sh node /opt/postern/run.mjs
