import type { HistoryEntry, HistoryRecord } from '@postern/contract/history/history'

const KINDS: Readonly<Record<string, string>> = {
  node: 'Node',
  token: 'Access token',
  domain: 'Domain',
  certificate: 'Certificate',
  service: 'Service',
  person: 'Person',
  rule: 'Alert rule',
  channel: 'Alert channel',
  setting: 'Setting',
  provider: 'Sign-in provider',
  edge: 'Edge',
}

/** What a kind of record is called; a newer server may have more. */
export const kindText = (kind: string): string => KINDS[kind] ?? kind

/** `service updated` as the beginning of a sentence. */
export const whatText = ({ what }: Pick<HistoryEntry, 'what'>): string =>
  what.charAt(0).toUpperCase() + what.slice(1)

const ACTORS = { token: 'by a token', node: 'node', edge: 'edge', installation: 'by itself' } as const

/** What stands behind the name of who did it; nothing for people. */
export function actorText({ actor: { kind } }: Pick<HistoryEntry, 'actor'>): string | null {
  return kind === null || kind === 'person' ? null : ACTORS[kind]
}

/** What became of a record, as a word. */
export function fateText({ before, after }: HistoryRecord): string {
  if (before === null) return 'new'
  return after === null ? 'deleted' : 'changed'
}
