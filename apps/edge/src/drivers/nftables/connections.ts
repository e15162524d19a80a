import type { Problem } from '@postern/contract/edge/edge'
import type { Exec } from '@postern/host/processes/exec'
import { CONNECTIONS_WANTED, FRAGMENTS, type FragmentRoom, UDP_FLOWS } from '@postern/render/nftables/budget'
import { readSysctl, writeSysctl } from '../sysctl.ts'

const MOST = '/proc/sys/net/netfilter/nf_conntrack_max'
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count'
/** As a share of the table; the rest may be used up within seconds. */
const NEARLY_FULL = 0.8
/** Below this, UDP services alone could take most of the table. */
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

/** For each family. */
const PIECES = [
  { memory: '/proc/sys/net/ipv4/ipfrag_high_thresh', seconds: '/proc/sys/net/ipv4/ipfrag_time' },
  {
    memory: '/proc/sys/net/netfilter/nf_conntrack_frag6_high_thresh',
    seconds: '/proc/sys/net/netfilter/nf_conntrack_frag6_timeout',
  },
] as const

/** Gives pieces of packets more memory for a shorter time, where this machine lets us. @returns what there is then */
export async function makeRoomForPieces(exec: Exec): Promise<FragmentRoom> {
  const rooms = PIECES.map(async ({ memory, seconds }) => ({
    memory: await bring(exec, memory, FRAGMENTS.memory, (found) => found >= FRAGMENTS.memory),
    seconds: await bring(exec, seconds, FRAGMENTS.seconds, (found) => found <= FRAGMENTS.seconds),
  }))
  const all = await Promise.all(rooms)
  return {
    memory: Math.min(...all.map(({ memory }) => memory)),
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
  }
}

/** @returns what the setting is then */
async function bring(
  exec: Exec,
  path: string,
  wanted: number,
  isEnough: (found: number) => boolean,
): Promise<number> {
  const found = await readNumber(exec, path)
  if (found === undefined || isEnough(found)) return found ?? wanted
  return await writeSysctl(exec, path, String(wanted)).then(
    () => wanted,
    () => found,
  )
}

/** The warning before the table is full and the kernel drops everybody's new connections. */
export async function findCrowding(exec: Exec): Promise<Problem[]> {
  const [most, count] = [await readNumber(exec, MOST), await readNumber(exec, COUNT)]
  if (!most || count === undefined || count < most * NEARLY_FULL) return []
  return [
    about(
      `The kernel's table of connections is nearly full (${most} at most); when it is full, no new visitor gets in.`,
    ),
  ]
}

const about = (message: string): Problem => ({ scope: { kind: 'edge' }, message })

async function readNumber(exec: Exec, path: string): Promise<number | undefined> {
  const text = await readSysctl(exec, path)
  return text === undefined ? undefined : Number(text)
}
