import { findIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import { optional, publicHost, read } from './setting-values.ts'

/** Where the server listens for edges on other machines. */

/** As edges are told it. */
export const CONTROL_URL = /^https:\/\/[A-Za-z0-9.:[\]-]{1,270}$/

function findListen(value: string): { host: string; port: number } | undefined {
  const [, v6, v4, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? []
  const [host, port] = [v6 ?? v4 ?? '', Number(digits)]
  const ip = findIp(host)
  if (!ip || (ip.family === 6) !== (v6 !== undefined) || port < 1 || port > 65_535) return undefined
  return { host, port }
}
const listen = read(
  (value) => findListen(value) !== undefined,
  'must be an address and a port, like 0.0.0.0:8443 or [::]:8443',
  (value) => findListen(value) ?? { host: '', port: 0 },
)

export const CONTROL_SETTINGS = {
  POSTERN_CONTROL_LISTEN: optional(listen),
  /** Null: the public host. */
  POSTERN_CONTROL_HOST: optional(publicHost),
}

const Control = z.object(CONTROL_SETTINGS)

/** Why these settings do not go together. */
export function findControlFault(settings: z.output<typeof Control>): string | undefined {
  return settings.POSTERN_CONTROL_HOST !== null && settings.POSTERN_CONTROL_LISTEN === null
    ? 'POSTERN_CONTROL_HOST needs POSTERN_CONTROL_LISTEN: set both or none'
    : undefined
}
