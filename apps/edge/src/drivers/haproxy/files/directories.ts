import { chmod, chown, mkdir } from 'node:fs/promises'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { SystemUser } from '../../../system-user.ts'

/** For the files that HAProxy reads as root when it starts, and for the sockets of draining ones. */
export async function makeDirectories(paths: HaproxyPaths): Promise<void> {
  for (const path of [paths.pages, paths.certificates, paths.draining])
    await mkdir(path, { recursive: true, mode: 0o700 })
}

/** For the lanes: HAProxy's user may open files there but not list them. */
export async function makeLanes(path: string, user: SystemUser | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (!user) return
  await chown(path, 0, user.gid)
  await chmod(path, 0o710)
}
