import { chmod, chown, mkdir } from 'node:fs/promises'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { SystemUser } from '../../../system-user.ts'

/** For what HAProxy reads when it starts, as root, and for the sockets of those that leave. */
export async function makeDirectories(paths: HaproxyPaths): Promise<void> {
  for (const path of [paths.pages, paths.certificates, paths.draining])
    await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Where the parts of HAProxy reach each other: its user may open files there but not list them. */
export async function makeLanes(path: string, user: SystemUser | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (!user) return
  await chown(path, 0, user.gid)
  await chmod(path, 0o710)
}
