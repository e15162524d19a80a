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
  nothing: 'Nothing is kept of what was before, so this cannot be taken back.',
  agent: 'An agent made this change, and would make it again. Change it where the agent finds it.',
  secret: 'This is about a secret that is gone, so it cannot be taken back.',
  node: 'The keys and tokens of a deleted node are gone, so it cannot be taken back. Add a new node.',
  token: 'An access token that has ended stays so. Add a new one.',
  own: 'The installation does this by itself, so it cannot be taken back.',
  many: 'This changed too much at once to be taken back as a whole. Change it back by hand.',
} as const

/** Why a change cannot be taken back at all, in a sentence; null when it can, if nothing has changed since. */
export function whyNotUndone(
  actorKind: string | null,
  all: readonly Undone[],
  leftOut: number,
): string | null {
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

function whyNotThis({ kind, name, before, after }: Undone): string | null {
  const secret = before !== null && after !== null && isAboutSecret(before, after) ? WORDS.secret : null
  switch (kind) {
    case 'node':
      return secret
    case 'token':
      return before === null ? null : WORDS.token
    case 'service':
    case 'domain':
    case 'rule':
      return null
    case 'channel':
      return after === null ? WORDS.secret : secret
    case 'setting':
      if (name === 'quietHours') return null
      return name.startsWith('POSTERN_') ? secret : WORDS.own
    default:
      return WORDS.own
  }
}

function isAboutSecret(before: Fields, after: Fields): boolean {
  const words = [...Object.values(before), ...Object.values(after)]
  return words.some((value) => value === 'set' || value === 'changed') || 'publicKey' in after
}
