import { findIp } from '@postern/net/ip'
import type { Context } from '../../../context.ts'
import { findConsoleDomain } from '../../services/http.ts'

/** The console as passkeys know it: they are bound to `id`, a name, and browsers say from which `origin` they answer. */
export interface RelyingParty {
  id: string
  origin: string
}

/**
 * The console at the address of a request, if that is one of its own: the name must be known, and the port must be the
 * installation's. Passkeys work at names only, so there is none for an address.
 * @param host of the request, with its port; anybody can send any
 */
export async function findRelyingParty(
  { db, config }: Pick<Context, 'db' | 'config'>,
  host: string,
): Promise<RelyingParty | undefined> {
  const [, id = '', port] = /^([^:[\]]+?)\.?(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? []
  const { POSTERN_HTTPS_PORT: https, POSTERN_CONSOLE_PORT: local } = config.settings
  if (id === 'localhost')
    return port === String(local) ? { id, origin: `http://localhost:${port}` } : undefined
  if (Number(port ?? 443) !== https || findIp(id)) return undefined
  const names = [...config.ownHosts, await findConsoleDomain(db)]
  return names.includes(id) ? { id, origin: `https://${id}${https === 443 ? '' : `:${https}`}` } : undefined
}
