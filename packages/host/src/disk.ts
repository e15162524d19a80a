import { statfs } from 'node:fs/promises'

/** The room of the disk that a directory is on, in bytes, as programs without root may use it. */
export interface Disk {
  free: number
  total: number
}

/** @returns null where it cannot be read */
export async function observeDisk(directory: string): Promise<Disk | null> {
  try {
    const { bavail, blocks, bfree, bsize } = await statfs(directory)
    // What only root may use is no room, and no part of the whole either.
    return { free: bavail * bsize, total: (blocks - bfree + bavail) * bsize }
  } catch {
    // A rule that cannot look finds nothing; every write tells of such a disk.
    return null
  }
}

/** Of the disks of some directories, the one with the least room for its size. @returns null where none can be read */
export async function observeFullest(directories: readonly string[]): Promise<Disk | null> {
  const disks = await Promise.all(directories.map(observeDisk))
  const share = ({ free, total }: Disk) => (total === 0 ? 1 : free / total)
  return disks.filter((disk) => disk !== null).sort((a, b) => share(a) - share(b))[0] ?? null
}
