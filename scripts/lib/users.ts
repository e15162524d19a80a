import { SYSTEM_USERS } from '@postern/contract/installation'
import { run } from '@postern/host/processes/exec'
import { CommandError } from './command.ts'

export interface Identity {
  uid: number
  gid: number
}

/** Who owns the parts of the data directory. */
export interface Identities {
  server: Identity
  proxy: Identity
}

/** The system users of an installation, created when missing. Needs root. */
export async function ensureUsers(): Promise<Identities> {
  return { server: await ensureUser(SYSTEM_USERS.server), proxy: await ensureUser(SYSTEM_USERS.proxy) }
}

async function ensureUser(name: string): Promise<Identity> {
  const existing = await findUser(name)
  if (existing) return existing
  const home = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin']
  const { stderr } = await run('useradd', ['--system', '--user-group', ...home, name]).catch((error) => ({
    stderr: String(error),
  }))
  // Another program may have created it meanwhile, so check again instead of trusting the exit code.
  const made = await findUser(name)
  if (!made) throw new CommandError(`cannot create the system user ${name}: ${stderr.trim()}`)
  return made
}

async function findUser(name: string): Promise<Identity | undefined> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  if (uid.code !== 0 || gid.code !== 0) return undefined
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** argv that makes a program run as a user, with that group only, and without capabilities or a way to gain any. */
export function asUser({ uid, gid }: Identity): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const less = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all']
  return ['setpriv', ...ids, ...less, '--pdeathsig=TERM', '--']
}
