/**
 * The script that the line of the page Edges fetches, checks and runs. It installs the edge's program if its checksum is
 * right and it starts, and then joins with what follows, or updates the edge that is there.
 * @param server `https://host[:port]`
 * @param sum SHA-256 of the archive, in hex
 * @param processor by Node's name
 */
export function renderEdgeInstaller(server: string, sum: string, processor: string): string {
  return `#!/bin/sh
# Installs the edge of Postern from ${server}, as a service of systemd.
# Usage: sh edge.sh [https://HOST#sha256:FINGERPRINT TOKEN]     without them, an edge that is here is updated
set -eu
server='${server}'
sum='${sum}'
processor='${processor}'

${BODY}`
}

/** The part that is the same everywhere. */
const BODY = `place=/usr/lib/postern

fail() {
  echo "postern-edge: $1" >&2
  exit 1
}

require() {
  command -v "$1" >/dev/null 2>&1 || fail "$1 is missing. Install it (apt install $2), then run the same line again."
}

check() {
  [ "$(uname -s)" = Linux ] || fail "the edge runs on Linux only."
  [ "$(id -u)" = 0 ] || fail "root is required. Become root (sudo -i), then run the same line again."
  [ -d /run/systemd/system ] || fail "systemd does not run here. Use a machine with systemd, or the compose file for an edge."
  case $(uname -m) in
    x86_64 | amd64) own=x64 ;;
    aarch64 | arm64) own=arm64 ;;
    *) own=$(uname -m) ;;
  esac
  [ "$own" = "$processor" ] || fail "the server has the edge for $processor, and this machine is $own."
  if [ -e /usr/bin/postern-server ] || [ -e /etc/systemd/system/postern-server.service ] || [ -e /var/lib/postern/server/postern.db ]; then
    fail "a server is installed on this machine, and has its own edge."
  fi
  require curl curl
  require sha256sum coreutils
  require tar tar
  require gzip gzip
}

fetch() {
  curl -fsSk --connect-timeout 15 --speed-limit 1000 --speed-time 30 "$server/install/edge.tar.gz" -o "$work/file" ||
    fail "$server does not answer with the edge. Check that this machine reaches the server, then run the same line again."
  [ "$(sha256sum <"$work/file" | cut -d ' ' -f 1)" = "$sum" ] ||
    fail "the downloaded edge doesn't match your console's: nothing was installed. If the server was just updated, reload the console and copy the line again. Otherwise somebody may be changing what you download."
  mkdir "$work/files"
  tar -xzf "$work/file" -C "$work/files" --no-same-owner
}

runs() {
  version=$("$work/files/node_modules/.bin/node" "$work/files/scripts/dist/postern-edge.mjs" --version 2>"$work/why")
}

# A minimal Debian lacks the one library that Node needs.
provide() {
  runs && return
  if grep -q libatomic "$work/why"; then
    echo "Installing the system package libatomic1 ..."
    { apt-get update && apt-get install -y --no-install-recommends libatomic1; } >"$work/apt" 2>&1 ||
      fail "apt-get could not install libatomic1: $(tail -n 1 "$work/apt")"
    runs && return
  fi
  fail "the edge does not start here: $(head -n 1 "$work/why")"
}

# Each file appears at once, so that an edge that starts meanwhile finds whole ones.
put() {
  (cd "$work/files" && find . -type f) | while read -r file; do
    mkdir -p "$(dirname "$place/$file")"
    mv -f "$work/files/$file" "$place/$file"
  done
}

main() {
  # The line leaves this script in a temporary file.
  case $0 in */tmp.??????????) rm -f "$0" ;; esac
  umask 022
  check
  mkdir -p "$place"
  work=$(mktemp -d "$place/.edge.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch
  provide
  put
  printf '#!/bin/sh\\nexec %s/node_modules/.bin/node %s/scripts/dist/postern-edge.mjs "$@"\\n' "$place" "$place" >"$work/command"
  chmod 755 "$work/command"
  mv -f "$work/command" /usr/local/bin/postern-edge
  postern=/usr/local/bin/postern-edge
  "$postern" install
  if [ $# -gt 0 ]; then "$postern" join "$@"; fi
}

main "$@"
`
