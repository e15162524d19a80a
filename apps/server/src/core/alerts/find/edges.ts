import type { Edge } from '@postern/contract/edge/edge'
import type { WaitingUpdate } from '@postern/contract/edge/edge-messages'
import type { Context } from '../../../context.ts'
import type { Finder, Finding } from '../sight.ts'

export const findGone: Finder = async ({ context: { edges } }, rule) => {
  const all = await edges.list()
  return all.flatMap(({ id, name, connected, isJoined }): Finding[] =>
    connected || !isJoined
      ? []
      : [
          {
            key: `edge-gone:${id}`,
            rule,
            name,
            problem:
              'It is not connected to the server. What is published keeps running, but no change reaches it.',
          },
        ],
  )
}

const PARTS = { haproxy: 'HAProxy', wireguard: 'The tunnel', nftables: 'The firewall' } as const

/** Problems of an edge as a whole, and of the server's own parts, such as a file of state that cannot be saved. */
export const findEdgeProblems: Finder = async ({ context: { edges } }, rule) => {
  const own = Map.groupBy(await edges.listOwnProblems(), ({ name }) => name)
  const all = await edges.list()
  return all.flatMap(({ id, name, connected, dataPlane }): Finding[] => {
    const parts = connected && dataPlane ? brokenParts(dataPlane) : []
    const [first, ...others] = [...parts, ...(own.get(name) ?? []).map(({ message }) => message)]
    if (first === undefined) return []
    const more = others.length > 0 ? ` And ${others.length} more.` : ''
    return [{ key: `edge-problem:${id}`, rule, name, problem: `${first}${more}` }]
  })
}

function brokenParts(dataPlane: NonNullable<Edge['dataPlane']>): string[] {
  return (['haproxy', 'wireguard', 'nftables'] as const).flatMap((part) => {
    const { state, detail } = dataPlane[part]
    return state === 'ok' ? [] : [`${PARTS[part]} does not work: ${detail}`]
  })
}

/** An edge of another version, or one whose changes wait for somebody; and security updates of its machine. */
export const findUpdates: Finder = async ({ context: { edges, config } }, rule) => {
  const all = await edges.list()
  const vitals = edges.vitals()
  const security = all.flatMap(({ id, name }): Finding[] => {
    const updates = vitals.get(id)?.updates ?? []
    if (updates.length === 0) return []
    return [{ key: `${SECURITY_UPDATES}${id}`, rule, name, problem: describeUpdates(updates) }]
  })
  const waiting = all.flatMap(({ id, name, connected, version, isStuck, problems }): Finding[] => {
    if (!connected || version === null) return []
    const key = `update-waiting:${id}`
    if (version !== config.version) {
      const problem = `It runs version ${version}, and the server ${config.version}. Finish the update by starting the edge again.`
      return [{ key, rule, name, problem }]
    }
    if (!isStuck) return []
    const why = problems[0]?.message ?? 'The edge says no more.'
    return [{ key, rule, name, problem: `Changes wait until somebody acts: ${why}` }]
  })
  return [...security, ...waiting]
}

/** The prefix of their alerts' keys. */
export const SECURITY_UPDATES = 'update-waiting:security:'

function describeUpdates(updates: readonly WaitingUpdate[]): string {
  const each = updates.map(({ name, installed, candidate }) => `${name} (${installed} → ${candidate})`)
  const names = updates.map(({ name }) => name).join(' ')
  return `${each.join(', ')}. Install with: apt-get install --only-upgrade ${names}`
}

/** Whether what an alert is about can be checked now. */
export function isUpdateKnown({ edges }: Context, key: string): boolean {
  if (!key.startsWith(SECURITY_UPDATES)) return edges.views().length > 0
  // Null after the machine has restarted, until the next check for updates.
  return [...edges.vitals()].some(([id, { updates }]) => updates && key === `${SECURITY_UPDATES}${id}`)
}
