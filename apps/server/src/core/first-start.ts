import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Context } from '../context.ts'
import { createFirstAccount, type GeneratedAdmin } from './accounts/accounts.ts'
import { registerLocalEdge } from './edges/tokens.ts'
import { seedLocalNode } from './nodes/local-node.ts'

/**
 * What every start makes sure of and the first one makes: an account, the local node, the edge's token.
 * @returns the first account when its password was made up
 * @throws EdgeTokenError
 */
export async function prepareInstallation(context: Context): Promise<GeneratedAdmin | undefined> {
  await registerLocalEdge(context)
  await seedLocalNode(context)
  const { firstPassword } = context.config.paths
  const made = await createFirstAccount(context, findFirstPassword(context))
  rmSync(firstPassword, { force: true })
  return made
}

/** A starter passes the password in a file: an environment can be read for as long as the process lives. */
function findFirstPassword({ config }: Context): string | null {
  const { firstPassword } = config.paths
  if (existsSync(firstPassword)) return readFileSync(firstPassword, 'utf8')
  return config.settings.POSTERN_ADMIN_PASSWORD
}
