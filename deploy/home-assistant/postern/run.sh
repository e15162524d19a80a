#!/bin/sh
# Hands the options to the agent's own user, who gets NET_ADMIN and no other right. None of their values passes this shell.
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
install -d -o postern -g postern -m 0700 /run/postern /data/node
# Of wireguard-go, where the kernel has no WireGuard.
install -d -o postern -g postern -m 0700 /run/wireguard
# What came back from a backup may belong to another user.
chown -Rh postern:postern /data/node
install -o postern -g postern -m 0400 /data/options.json /run/postern/options.json
# Without the Supervisor's own token, which is in the environment of each add-on.
exec env -i "PATH=$PATH" "TZ=${TZ-}" "POSTERN_AGENT_DIR=${POSTERN_AGENT_DIR:-/data/node}" \
  setpriv --reuid=postern --regid=postern --clear-groups --bounding-set=-all,+net_admin \
  --inh-caps=-all,+net_admin --ambient-caps=+net_admin --no-new-privs \
  node /opt/postern/run.mjs
