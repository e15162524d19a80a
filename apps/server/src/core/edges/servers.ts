import type { ControlServer } from '@postern/contract/edge/join'
import { bracketed, type ServerConfig } from '../../config.ts'
import { ConflictError } from '../errors.ts'

/** Where edges on other machines reach the servers; none where no port is open for them. */
export function listServers({ settings, publicHost }: Pick<ServerConfig, 'settings' | 'publicHost'>) {
  const { POSTERN_CONTROL_LISTEN: listen, POSTERN_CONTROL_HOST: host } = settings
  if (listen === null) return []
  return [{ name: 'server', url: `https://${bracketed(host ?? publicHost)}:${listen.port}` }]
}

/** @throws ConflictError where no port is open for edges */
export function getServers(config: Pick<ServerConfig, 'settings' | 'publicHost'>): ControlServer[] {
  const servers = listServers(config)
  if (servers.length > 0) return servers
  throw new ConflictError(
    'The server has no port for edges on other machines: set POSTERN_CONTROL_LISTEN, like 0.0.0.0:8443, and start it again.',
  )
}
