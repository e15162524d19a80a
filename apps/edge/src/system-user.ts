import { readFile } from 'node:fs/promises'

export interface SystemUser {
  uid: number
  gid: number
}

/** The first of these users that this machine has; undefined when it has none. */
export async function findSystemUser(names: readonly string[]): Promise<SystemUser | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  for (const name of names) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd) ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}
