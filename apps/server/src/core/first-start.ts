import type { Context } from '../context.ts'
import { createFirstAccount, type GeneratedAdmin } from './accounts.ts'
import { registerLocalEdge } from './edge-tokens.ts'
import { seedLocalNode } from './local-node.ts'

/**
 * What every start makes sure of and the first one makes: an account, the local node, the edge's token.
 * @returns the first account when its password was made up
 * @throws EdgeTokenError
 */
export async function prepareInstallation(context: Context): Promise<GeneratedAdmin | undefined> {
  await registerLocalEdge(context)
  await seedLocalNode(context)
  return await createFirstAccount(context)
}
