import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Call } from '../cli/command.ts'
import { findCredentials, findLastGood } from '../store.ts'
import type { Api } from './api.ts'
import { getNode, getOnlyNode } from './names.ts'

/** The node that a command names; otherwise the one that this machine is, as far as this user may know, or the only one. */
export async function chooseNode(call: Call, api: Api, name: string | undefined): Promise<{ id: number }> {
  if (name !== undefined) return await getNode(api, name)
  const here = call.context.isPrivileged ? await findHere(call, api) : undefined
  return here ?? (await getOnlyNode(api))
}

async function findHere({ paths }: Call, api: Api): Promise<{ id: number } | undefined> {
  const [credentials, config] = [await findCredentials(paths), await findLastGood(paths)]
  if (!config || credentials?.url !== api.access.url.origin) return undefined
  return await api.call(endpoints.getNode, { params: { id: config.node.id } })
}
