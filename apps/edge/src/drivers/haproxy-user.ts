import { readFile } from 'node:fs/promises'
import { SYSTEM_USERS } from '@postern/contract/installation'

export interface ProxyUser {
  uid: number
  gid: number
}

/**
 * Whom HAProxy becomes: our own user, or the one that Debian's package made. Undefined when the caller is not root,
 * and HAProxy cannot become anybody.
 */
export async function findProxyUser(): Promise<ProxyUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const passwd = await readFile('/etc/passwd', 'utf8')
  for (const name of [SYSTEM_USERS.proxy, 'haproxy', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd) ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

/** The open files a program started from here may have; `fallback` where the kernel does not say. */
export async function readFileLimit(fallback: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  const hard = /^Max open files +\S+ +(\d+)/m.exec(limits)?.[1]
  return hard === undefined ? fallback : Number(hard)
}
