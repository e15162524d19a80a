import { chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import type { Bind } from './bundle.ts'
import type { ComposeService } from './compose.ts'

/**
 * The mounts of a service's volumes.
 * @param mounts a directory of this machine for each volume or path that the compose file names
 */
export function bindsOf(service: ComposeService, rootfs: string, mounts: Record<string, string>): Bind[] {
  return (service.volumes ?? []).map((line) => {
    const [name = '', destination = '', mode] = line.split(':')
    const source = mounts[name]
    if (source === undefined) throw new Error(`the test names no place for the volume ${name}`)
    if (!name.startsWith('/') && !name.startsWith('.')) fillVolume(source, `${rootfs}${destination}`)
    return { source, destination, readOnly: mode === 'ro' }
  })
}

/**
 * An empty named volume gets the image's files at its path, with their owners. Without the set-user-id, set-group-id
 * and sticky bits, which not every version of Docker copies.
 */
function fillVolume(volume: string, place: string): void {
  mkdirSync(volume, { recursive: true })
  if (readdirSync(volume).length > 0 || !existsSync(place)) return
  const { uid, gid, mode } = lstatSync(place)
  cpSync(place, volume, { recursive: true })
  chownSync(volume, uid, gid)
  chmodSync(volume, mode & 0o777)
}
