import { readFile } from 'node:fs/promises'
import { writeAtomic } from '@postern/host/files'
import { findIp, formatIp } from '@postern/net/ip'
import { isWireGuardKey } from '@postern/net/keys'

/** The last endpoint of each peer, by public key. */
export type Endpoints = ReadonlyMap<string, string>

/**
 * Outlives the interface: after a reboot the edge contacts its nodes, which do not know yet that they must reconnect.
 */
export interface EndpointMemory {
  recall(): Promise<Endpoints>
  /**
   * Writes only if something differs.
   * @throws when the disk fails
   */
  keep(endpoints: Endpoints): Promise<void>
}

export function createEndpointMemory(file: string): EndpointMemory {
  let held: string | undefined
  const read = async () => {
    // The tunnel works without the file: the nodes reconnect by themselves.
    held ??= await readFile(file, 'utf8').catch(() => '')
    return held
  }
  return {
    recall: async () => parseEndpoints(await read()),
    async keep(endpoints) {
      const text = renderEndpoints(endpoints)
      if (text === (await read())) return
      await writeAtomic(file, text, 0o600)
      held = text
    },
  }
}

/** A line for each peer, as `wg show NAME endpoints` prints it; other lines are skipped. */
function parseEndpoints(text: string): Endpoints {
  const endpoints = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [key = '', endpoint = ''] = line.split('\t')
    const found = findEndpoint(endpoint)
    if (isWireGuardKey(key) && found) endpoints.set(key, found)
  }
  return endpoints
}

function renderEndpoints(endpoints: Endpoints): string {
  return [...endpoints].map(([key, endpoint]) => `${key}\t${endpoint}\n`).join('')
}

/** `203.0.113.7:51820` or `[2001:db8::7]:51820` in their one spelling; undefined for anything else. */
export function findEndpoint(text: string): string | undefined {
  const [, six, four, port] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):([1-9]\d{0,4})$/.exec(text) ?? []
  const ip = findIp(six ?? four ?? '')
  if (!ip || (ip.family === 6) !== (six !== undefined) || Number(port) > 65535) return undefined
  return ip.family === 6 ? `[${formatIp(ip)}]:${port}` : `${formatIp(ip)}:${port}`
}
