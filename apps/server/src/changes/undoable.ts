import type { Fields } from '@postern/contract/history/history'

/** What an undo needs to know of a record. */
export interface Undone {
  kind: string
  id: number | null
  nodeId: number | null
  name: string
  before: Fields | null
  after: Fields | null
}

/** Records that one undo can bring back, at most. */
const MOST = 100

const WORDS = {
  gone: 'What was changed is no longer kept, so this cannot be taken back.',
  nothing: 'Nothing is kept of what was before, so this cannot be taken back.',
  agent: 'This is what an agent publishes, and would publish again. Change it where the agent finds it.',
  secret: 'This is about a secret that is gone, so it cannot be taken back.',
  node: 'The keys and tokens of a deleted node are gone, so it cannot be taken back. Add a new node.',
  token: 'An access token that has ended stays so. Add a new one.',
  invited: 'An invitation is not taken back here. Delete the person on the page People.',
  left: 'The password and the sign-ins of a deleted person are gone, so this cannot be taken back. Invite them again.',
  account: 'This is about how a person signs in, which cannot be taken back.',
  own: 'The installation does this by itself, so it cannot be taken back.',
  people: 'This is about who may come in, and is not taken back by itself. Change it back by hand.',
  edge: 'The key and the certificate of a removed edge are gone, so it cannot be taken back. Add a new edge.',
  joined: 'This is about how a machine becomes an edge, and is not taken back. Remove the edge instead.',
  many: 'This changed too much at once to be taken back as a whole. Change it back by hand.',
} as const

/**
 * Why a change cannot be taken back at all, in a sentence; null when it can, if nothing has changed since.
 * @param isGone whether its records were let go
 */
export function whyNotUndone(
  actorKind: string | null,
  all: readonly Undone[],
  leftOut: number,
  isGone = false,
): string | null {
  if (isGone) return WORDS.gone
  const records = relevantOf(all)
  const [first] = records
  if (!first) return all.length > 0 ? WORDS.own : WORDS.nothing
  if (actorKind === 'node') return WORDS.agent
  // With its tokens and services, which say less.
  if (records.some(({ kind, after }) => kind === 'node' && after === null)) return WORDS.node
  if (leftOut > 0 || records.length > MOST) return WORDS.many
  for (const record of records) {
    const why = whyNotThis(record)
    if (why !== null) return why
  }
  if (records.length > 1 && !records.every((record) => isLike(record, first))) return WORDS.many
  return null
}

/** Without what follows from the others: certificates, the first token of a node, the domain of a new service. */
export function relevantOf<T extends Undone>(all: readonly T[]): T[] {
  const isNew = (kind: string) => all.some((record) => record.kind === kind && record.before === null)
  const hasService = all.some(({ kind }) => kind === 'service')
  return all.filter(({ kind, before }) => {
    if (kind === 'certificate') return false
    if (kind === 'token' && before === null && isNew('node')) return false
    return !(kind === 'domain' && before === null && hasService)
  })
}

/** Of many, only those that all came, went or were switched can be taken back together. */
function isLike(record: Undone, first: Undone): boolean {
  if (record.kind !== first.kind || !['service', 'node', 'domain'].includes(record.kind)) return false
  if (record.after === null && first.after === null) return record.kind !== 'node'
  return isSwitched(record) && isSwitched(first) && record.after?.enabled === first.after?.enabled
}

export function isSwitched({ before, after }: Pick<Undone, 'before' | 'after'>): boolean {
  return before !== null && after !== null && Object.keys(after).join() === 'enabled'
}

/** What an administrator decides about a person. */
const OF_PEOPLE: ReadonlySet<string> = new Set([
  'username',
  'role',
  'isLimited',
  'nodes',
  'domains',
  'isDisabled',
])

function whyNotThis({ kind, name, before, after }: Undone): string | null {
  const secret = before !== null && after !== null && isAboutSecret(before, after) ? WORDS.secret : null
  switch (kind) {
    case 'node':
      return secret
    case 'token':
      return before === null ? null : WORDS.token
    case 'service':
      return after === null && before?.source ? WORDS.agent : null
    case 'domain':
    case 'rule':
      return null
    case 'person':
      if (before === null) return WORDS.invited
      if (after === null) return WORDS.left
      return Object.keys(after).every((field) => OF_PEOPLE.has(field)) ? null : WORDS.account
    case 'channel':
      return after === null ? WORDS.secret : secret
    case 'provider':
      return WORDS.people
    case 'edge':
      return whyNotEdge(before, after)
    case 'setting':
      if (name === 'passwordRule') return WORDS.people
      if (name === 'quietHours') return null
      return name.startsWith('POSTERN_') ? secret : WORDS.own
    default:
      return WORDS.own
  }
}

/** What people set about an edge, beside whether it serves the console. */
const OF_EDGES: ReadonlySet<string> = new Set(['name', 'place', 'host', 'isDrained'])

function whyNotEdge(before: Fields | null, after: Fields | null): string | null {
  if (after === null) return WORDS.edge
  if ('servesConsole' in after && before !== null) return WORDS.people
  return before !== null && Object.keys(after).every((field) => OF_EDGES.has(field)) ? null : WORDS.joined
}

function isAboutSecret(before: Fields, after: Fields): boolean {
  const words = [...Object.values(before), ...Object.values(after)]
  return words.some((value) => value === 'set' || value === 'changed') || 'publicKey' in after
}
