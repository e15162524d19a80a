import { isIpv4 } from '@postern/net/ip'
import { type HaproxyOptions, haproxyPaths, socketInside } from './options.ts'

/** The backend whose checks say whether a server answers. */
export const SERVER_UP = 'server_up'

/**
 * How to dial each server: the socket on this machine, or TLS to other machines.
 */
export function serversOf(options: HaproxyOptions): string[] {
  const { farServers } = options
  if (!farServers) return [socketInside(options, options.serverSocket)]
  return farServers.addresses.map(
    (_, index) => `${renderFar(options, index)} track ${SERVER_UP}/s${index + 1}`,
  )
}

/**
 * The lines of a backend that leads to the server. With several, what one of them counts for a network is counted there
 * as long as it answers, and a request that none has got goes to the next.
 * @param rest the end of each line
 */
export function renderServers(options: HaproxyOptions, rest = ''): string {
  const servers = serversOf(options)
  const lines = servers.map((server, index) => `  server s${index + 1} ${server}${rest}`)
  const spread = ['  balance hash src,ipmask(32,48)', '  hash-type consistent', '  option redispatch 1']
  return [...(servers.length > 1 ? spread : []), ...lines].join('\n')
}

function renderFar({ directory, farServers }: HaproxyOptions, index: number): string {
  const { serversRoot, serversProof } = haproxyPaths(directory)
  const { host = '', port = 0 } = farServers?.addresses[index] ?? {}
  const name = farServers?.name ?? ''
  return [
    `${isIpv4(host) ? host : `[${host}]`}:${port}`,
    `ssl ssl-min-ver TLSv1.3 verify required ca-file ${serversRoot} verifyhost ${name}`,
    `crt ${serversProof} sni str(${name}) alpn http/1.1`,
  ].join(' ')
}

/** Sessions are renewed only while a server is up. One elsewhere must also prove itself before it counts as up. */
export function renderServerCheck(options: HaproxyOptions): string {
  const { farServers } = options
  const servers = farServers
    ? farServers.addresses.map(
        (_, index) =>
          `s${index + 1} ${renderFar(options, index)} check inter 2s fastinter 500ms downinter 1s fall 2 rise 1`,
      )
    : [`server ${socketInside(options, options.serverSocket)} check inter 1s fall 1 rise 1`]
  return `backend ${SERVER_UP}
  timeout check 5s
${servers.map((server) => `  server ${server}`).join('\n')}
`
}
