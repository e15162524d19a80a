#!/bin/sh
# Runs a program as the agent's own user, with NET_ADMIN and no other right, and without the Supervisor's token, which is in
# the environment of each add-on.
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "TZ=${TZ-}" POSTERN_AGENT_DIR=/data/node \
  setpriv --reuid=postern --regid=postern --clear-groups --bounding-set=-all,+net_admin \
  --inh-caps=-all,+net_admin --ambient-caps=+net_admin --no-new-privs "$@"
