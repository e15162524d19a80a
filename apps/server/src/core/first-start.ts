import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Context } from '../context.ts'
import { createFirstAccount, type GeneratedAdmin } from './accounts/accounts.ts'
import { followConsole } from './accounts/session-hosts.ts'
import { seedRules } from './alerts/built-in-rules.ts'
import { notePublicHost } from './domains/used-names.ts'
import { registerLocalEdge } from './edges/tokens.ts'
import { seedLocalNode } from './nodes/local-node.ts'

/**
 * Ensures, at every start, that there are an account, the local node, the edge's token and the built-in rules of alerts.
 * @returns the first account when its password was generated
 * @throws EdgeTokenError
 */
export async function prepareInstallation(context: Context): Promise<GeneratedAdmin | undefined> {
  await registerLocalEdge(context)
  await notePublicHost(context.db, context.config.publicHost)
  await followConsole(context)
  await seedLocalNode(context)
  await seedRules(context)
  const { firstPassword } = context.config.paths
  const made = await createFirstAccount(context, findFirstPassword(context))
  rmSync(firstPassword, { force: true })
  return made
}

/** A starter passes the password in a file, because an environment can be read while the process lives. */
function findFirstPassword({ config }: Context): string | null {
  const { firstPassword } = config.paths
  if (existsSync(firstPassword)) return readFileSync(firstPassword, 'utf8')
  return config.settings.POSTERN_ADMIN_PASSWORD
}
