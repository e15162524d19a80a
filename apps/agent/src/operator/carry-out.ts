import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import type { Api } from './api.ts'
import { keyOf, type Wanted } from './manifest.ts'
import type { Current, Step } from './plan.ts'

export async function readCurrent(api: Api): Promise<Current> {
  const nodes = await api.list(endpoints.listNodes)
  const domains = await api.list(endpoints.listDomains)
  const services = await api.list(endpoints.listAllServices)
  return { nodes, domains, services }
}

/** Does one step after the other. @throws AgentError of the first that fails, which says what it was */
export async function carryOut(
  api: Api,
  steps: readonly Step[],
  onDone: (step: Step) => void,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    try {
      await doStep(api, step)
    } catch (error) {
      if (!(error instanceof AgentError)) throw error
      const what = step.act === 'delete' ? step.key : keyOf(step.wanted)
      const rest = steps.length - index
      throw new AgentError(
        error.code,
        `Stopped at ${printable(what)}: ${error.message}\n${rest} of ${steps.length} steps are not done`,
      )
    }
    onDone(step)
  }
}

async function doStep(api: Api, step: Step): Promise<void> {
  if (step.act === 'delete') return await remove(api, step)
  const { wanted } = step
  if (step.act === 'create') {
    const made = await create(api, wanted)
    if (wanted.enabled === false) await setEnabled(api, wanted, made, false)
    return
  }
  const fields = step.changes.filter(({ field }) => field !== 'enabled')
  const body = Object.fromEntries(fields.map(({ field, to }) => [field, to]))
  const row = step.row as Node & Service
  if (fields.length > 0)
    await update(api, wanted, row, { ...body, ...wanted.asked, updated_at: row.updated_at })
  const enabled = step.changes.find(({ field }) => field === 'enabled')
  if (enabled) await setEnabled(api, wanted, row, enabled.to === true)
}

/** The ids of a record; domains have no node. */
interface Key {
  id: number
  nodeId?: number
}

async function create(api: Api, wanted: Wanted): Promise<Key> {
  const { kind, fields, asked, type } = wanted
  const body = { ...fields, ...asked }
  if (kind === 'node') return await api.call(endpoints.createNode, { body })
  if (kind === 'domain') return await api.call(endpoints.createDomain, { body })
  const nodeId = await findNodeId(api, wanted.node)
  if (type === 'http') return await api.call(endpoints.createHttpService, { params: { nodeId }, body })
  return await api.call(endpoints.createTcpService, { params: { nodeId }, body: { ...body, proto: type } })
}

async function findNodeId(api: Api, name: string): Promise<number> {
  const found = (await api.list(endpoints.listNodes, { query: { search: name } })).filter(
    (node) => node.name === name,
  )
  const [node] = found
  if (node && found.length === 1) return node.id
  throw new AgentError('not-found', `${found.length || 'No'} nodes are called “${printable(name)}”`)
}

async function update(
  api: Api,
  { kind, type }: Wanted,
  { id, nodeId = 0 }: Key,
  body: object,
): Promise<void> {
  if (kind === 'node') await api.call(endpoints.updateNode, { params: { id }, body })
  else if (kind === 'domain') await api.call(endpoints.updateDomain, { params: { id }, body })
  else if (type === 'http') await api.call(endpoints.updateHttpService, { params: { nodeId, id }, body })
  else await api.call(endpoints.updateTcpService, { params: { nodeId, id }, body })
}

async function setEnabled(
  api: Api,
  { kind, type }: Wanted,
  { id, nodeId = 0 }: Key,
  isOn: boolean,
): Promise<void> {
  if (kind === 'node') {
    await api.call(isOn ? endpoints.enableNode : endpoints.disableNode, { params: { id }, body: {} })
    return
  }
  const params = { nodeId, id, type: type === 'http' ? 'http' : 'tcp' }
  await api.call(isOn ? endpoints.enableService : endpoints.disableService, { params, body: {} })
}

async function remove(api: Api, { kind, row }: Extract<Step, { act: 'delete' }>): Promise<void> {
  const { id } = row
  if (kind === 'node') await api.call(endpoints.deleteNode, { params: { id } })
  else if (kind === 'domain') await api.call(endpoints.deleteDomain, { params: { id } })
  else if ('nodeId' in row)
    await api.call(endpoints.deleteService, { params: { nodeId: row.nodeId, type: row.type, id } })
}
