/** SHA-256, in hex, of the files that the installer may fetch; empty: the server does not have it. */
export interface InstallerSums {
  bundle: string
  x64: string
  arm64: string
}

/**
 * The script that the console's install line fetches, checks and runs: it chooses the agent that fits the host, and
 * installs it only if its checksum is right and it starts.
 * @param server `https://host[:port]`
 */
export function renderInstaller(server: string, sums: InstallerSums): string {
  return `#!/bin/sh
# Installs the command postern from ${server}.
# Usage: sh agent.sh [FILE]     FILE is /usr/local/bin/postern by default
set -eu
server='${server}'
bundle='${sums.bundle}'
linux_x64='${sums.x64}'
linux_arm64='${sums.arm64}'

${BODY}`
}

/** The part that is the same everywhere. */
const BODY = `fail() {
  echo "postern: $1" >&2
  exit 1
}

require() {
  command -v "$1" >/dev/null 2>&1 || fail "$1 is missing. Install it (apt install $2), then run the same line again."
}

has_node() {
  node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' >/dev/null 2>&1
}

choose() {
  if has_node; then file=postern sum=$bundle; return; fi
  require gzip gzip
  case $(uname -m) in
    x86_64 | amd64) machine=linux-x64 sum=$linux_x64 ;;
    aarch64 | arm64) machine=linux-arm64 sum=$linux_arm64 ;;
    *) machine=$(uname -m) sum= ;;
  esac
  file=postern-$machine.gz
  [ "$sum" ] || fail "Node.js 18 or later is missing here, and the server has no agent with Node.js inside for $machine. Install Node.js here (apt install --no-install-recommends nodejs, where that is 18 or later), or run npm run package in the server's clone and start it again. Then copy the line from the console again."
}

fetch() {
  curl -fsSk --connect-timeout 15 --speed-limit 1000 --speed-time 30 "$server/install/$file" -o "$work/file" ||
    fail "$server does not answer with the agent. Check that this host reaches the server, then run the same line again."
  [ "$(sha256sum <"$work/file" | cut -d ' ' -f 1)" = "$sum" ] ||
    fail "the downloaded agent doesn't match your console's: nothing was installed. If the server was just updated, reload the console and copy the line again. Otherwise somebody may be changing what you download."
}

unpack() {
  case $file in
    *.gz) gzip -dc "$work/file" >"$work/postern" ;;
    *) mv "$work/file" "$work/postern" ;;
  esac
  chmod 755 "$work/postern"
  version=$("$work/postern" --version 2>"$work/why") && return
  if grep -q libatomic "$work/why"; then require libatomic.so.1 libatomic1; fi
  fail "the agent does not start here: $(head -n 1 "$work/why")"
}

main() {
  # The install line leaves this script in a temporary file.
  case $0 in */tmp.??????????) rm -f "$0" ;; esac
  target=/usr/local/bin/postern
  [ $# -eq 0 ] || target=$1
  dir=$(dirname "$target")
  [ "$(uname -s)" = Linux ] || fail "the agent runs on Linux only."
  [ -d "$dir" ] || fail "$dir does not exist. Create it, then run the same line again."
  [ -w "$dir" ] || fail "root is required to write to $dir. Become root (sudo -i), then run the same line again."
  require curl curl
  require sha256sum coreutils
  choose
  work=$(mktemp -d "$dir/.postern.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch
  unpack
  mv -f "$work/postern" "$target"
  echo "postern $version is installed: $target"
}

main "$@"
`
