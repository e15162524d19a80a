#!/bin/sh
# The `postern` command in the gateway's image: the agent with NET_ADMIN and nothing else, now and later.
agent='node --disable-sigusr1 /opt/postern/postern.mjs'
if [ -z "${POSTERN_DOCKER-}" ] && [ -S /var/run/docker.sock ]; then
  export POSTERN_DOCKER=unix:///var/run/docker.sock
fi
rights='--inh-caps=+net_admin --ambient-caps=+net_admin --no-new-privs'
# Without the right the agent says itself what is missing.
# shellcheck disable=SC2086
with-net-admin $rights true 2>/dev/null && exec with-net-admin $rights $agent "$@"
# shellcheck disable=SC2086
exec $agent "$@"
