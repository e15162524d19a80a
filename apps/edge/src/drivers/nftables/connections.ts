import type { Problem } from '@postern/contract/edge'
import type { Exec } from '@postern/host/exec'
import { CONNECTIONS_WANTED, UDP_FLOWS } from '@postern/render/nftables/budget'
import { readSysctl, writeSysctl } from '../sysctl.ts'

const MOST = '/proc/sys/net/netfilter/nf_conntrack_max'
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count'
/** As a share of the table; what is left may go within seconds. */
const NEARLY_FULL = 0.8
/** Below this UDP services alone could take most of the table. */
const LEAST = 2 * UDP_FLOWS.all

/** Makes the kernel's table of connections large enough where this machine lets us; it is never made smaller. */
export async function makeRoomForConnections(exec: Exec): Promise<Problem[]> {
  const most = await readNumber(exec, MOST)
  if (most === undefined || most >= CONNECTIONS_WANTED) return []
  try {
    await writeSysctl(exec, MOST, String(CONNECTIONS_WANTED))
    return []
  } catch {
    // In a namespace or a container it belongs to the machine.
    if (most >= LEAST) return []
    return [
      about(`The kernel's table of connections has room for only ${most}, which visitors over UDP can fill.`),
    ]
  }
}

/** What people should know before the table is full and the kernel drops new connections of everybody. */
export async function findCrowding(exec: Exec): Promise<Problem[]> {
  const [most, count] = [await readNumber(exec, MOST), await readNumber(exec, COUNT)]
  if (!most || count === undefined || count < most * NEARLY_FULL) return []
  return [
    about(`The kernel's table of connections is nearly full (${most} at most), and then nobody new gets in.`),
  ]
}

const about = (message: string): Problem => ({ scope: { kind: 'edge' }, message })

async function readNumber(exec: Exec, path: string): Promise<number | undefined> {
  const text = await readSysctl(exec, path)
  return text === undefined ? undefined : Number(text)
}
