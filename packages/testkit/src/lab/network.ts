import { addNamespace, beginLab, connect, type Namespace } from './namespace.ts'

/**
 * Hosts of a test, on a switch of their own.
 *
 *   server 203.0.113.1 ──┬── visitor 203.0.113.100
 *                        └── site    203.0.113.10 ── lan 192.168.7.20
 */
export interface Host extends Namespace {
  address: string
}

export interface Lab {
  id: string
  server: Host
  visitor: Host
  site: Host
  /** A host that only `site` reaches. */
  lan: Host
  /** One more host at the switch, as 203.0.113.`octet`. */
  plugIn(role: string, octet: number): Promise<Host>
  close(): Promise<void>
}

/** A name of the server's host that leads to itself, as only a resolver can tell. */
export const SNEAKY_NAME = 'sneaky.test'

export async function startLab(): Promise<Lab> {
  const id = await beginLab()
  const hosts = `127.0.0.1 localhost\n127.0.0.1 ${SNEAKY_NAME}\n`
  const server = { ...(await addNamespace(`${id}-srv`, { hosts })), address: '203.0.113.1' }
  await server.must('ip', 'link', 'add', 'br0', 'type', 'bridge')
  await server.must('ip', 'link', 'set', 'br0', 'up')
  await addAddresses(server, 'br0', server.address, '2001:db8::1')
  const plugged: Host[] = []
  const plugIn = async (role: string, octet: number): Promise<Host> => {
    const host = { ...(await addNamespace(`${id}-${role}`)), address: `203.0.113.${octet}` }
    plugged.push(host)
    await connect(server, `p${octet}`, host, 'eth0')
    await server.must('ip', 'link', 'set', `p${octet}`, 'master', 'br0')
    await addAddresses(host, 'eth0', host.address, `2001:db8::${octet}`)
    await host.must('ip', 'route', 'add', 'default', 'via', server.address)
    return host
  }
  const visitor = await plugIn('vis', 100)
  const site = await plugIn('site', 10)
  const lan = { ...(await addNamespace(`${id}-lan`)), address: '192.168.7.20' }
  await connect(site, 'eth1', lan, 'eth0')
  await site.must('ip', 'addr', 'add', '192.168.7.1/24', 'dev', 'eth1')
  await addAddresses(lan, 'eth0', lan.address, 'fd77::20')
  const close = async () => {
    for (const host of [server, ...plugged, lan]) await host.remove()
  }
  return { id, server, visitor, site, lan, plugIn, close }
}

async function addAddresses(host: Host, device: string, address4: string, address6: string): Promise<void> {
  await host.must('ip', 'addr', 'add', `${address4}/24`, 'dev', device)
  await host.must('ip', 'addr', 'add', `${address6}/64`, 'dev', device, 'nodad')
}
