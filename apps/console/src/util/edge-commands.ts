import type { EdgeInstaller, JoinToken } from '@postern/contract/edge/join'

/**
 * One line for root on a machine with Debian or Ubuntu: it installs what an edge needs, joins and starts. The server's
 * certificate may be self-signed (`-k`), because the checksum, which came with the session, decides.
 * @returns null where the server was built without the edge
 */
export function joinLine({ url, sha256 }: EdgeInstaller, { address, token }: JoinToken): string | null {
  if (sha256 === null) return null
  return [
    'f=$(mktemp)',
    `curl -fsSk ${url} -o "$f"`,
    `echo "${sha256}  $f" | sha256sum -c`,
    `sh "$f" '${address}' ${token}`,
  ].join(' && ')
}

/** For a machine that has the edge's program already. */
export function joinCommand({ address, token }: JoinToken): string {
  return `postern-edge join '${address}' ${token}`
}

/** The first lines of deploy/docker/edge.compose.yaml, filled in. */
export function edgeComposeLines({ address, token }: JoinToken): string {
  return `x-address: &address ${address}\nx-token: &token ${token}`
}

const LISTEN = 'POSTERN_CONTROL_LISTEN'

/** Where the port for edges usually is. */
export const CONTROL_EXAMPLE = '0.0.0.0:8443'

/** How the port for edges is opened, by the way in which the server was installed. */
export const CONTROL_WAYS = {
  package: {
    text: 'Debian Package',
    lines: [
      `echo ${LISTEN}=${CONTROL_EXAMPLE} | sudo tee -a /etc/postern/environment`,
      'sudo systemctl restart postern-server',
    ].join(' && '),
  },
  docker: {
    text: 'Docker Compose',
    lines: ['environment:', `  ${LISTEN}: ${CONTROL_EXAMPLE}`, 'ports:', '  - 8443:8443/tcp'].join('\n'),
  },
} as const
