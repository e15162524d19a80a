import type { Disk } from '@postern/host/disk'
import type { Context } from '../../../context.ts'
import { listEndingCertificates } from '../../domains/ending.ts'
import type { Finder, Finding } from '../sight.ts'

const DAY = 86_400_000

/** Only those whose renewal fails. */
export const findEnding: Finder = async ({ context }, rule) => {
  const { data } = await listEndingCertificates(context)
  const end = context.clock() + (rule.threshold ?? 14) * DAY
  return data.flatMap(({ id, domain, notAfter, error }): Finding[] => {
    if (Date.parse(notAfter) > end) return []
    const problem = `It ends on ${notAfter.slice(0, 10)}, and its renewal fails: ${error}`
    return [{ key: `certificate-ending:${id}`, rule, name: domain, problem }]
  })
}

/** The key of its alert. */
export const SERVER_DISK = 'disk-full'
const edgeDisk = (id: number) => `${SERVER_DISK}:${id}`

/** Checks the disk of the server's data directory, and an edge's data directory if it is on another disk. */
export const findFullDisk: Finder = async ({ context }, rule) => {
  const own = await context.disk(context.config.paths.serverDir)
  const isFull = (disk: Disk) => disk.total > 0 && shareOf(disk) < (rule.threshold ?? 10)
  const found: Finding[] = []
  if (own && isFull(own)) {
    const problem = `Only ${roomOf(own)} of the disk with the server's data is free. Without room, no change is saved.`
    found.push({ key: SERVER_DISK, rule, name: context.config.publicHost, problem })
  }
  const vitals = context.edges.vitals()
  for (const { id, name } of await context.edges.list()) {
    const disk = vitals.get(id)?.disk
    if (!disk || !isFull(disk) || (own && isSame(own, disk))) continue
    const problem = `Only ${roomOf(disk)} of the disk with the edge's data is free. Without room, it keeps no requests, and changes wait.`
    found.push({ key: edgeDisk(id), rule, name, problem })
  }
  return found
}

/** Whether the disk that an alert is about can be measured now. */
export function isDiskKnown({ edges }: Context, key: string): boolean {
  return key === SERVER_DISK || [...edges.vitals()].some(([id, { disk }]) => disk && edgeDisk(id) === key)
}

const shareOf = ({ free, total }: Disk) => (free / total) * 100
const roomOf = (disk: Disk) => `${Math.floor(shareOf(disk))} % (${Math.floor(disk.free / 1024 ** 2)} MB)`

/** Two disks of one size with the same free space are taken for the same disk. */
const isSame = (a: Disk, b: Disk) => a.total === b.total && Math.abs(a.free - b.free) < a.total / 100
