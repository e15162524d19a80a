import type { AlertEvent, AlertMessage, ToldAlert } from '@postern/contract/alerts/alerts'
import type { AlertKind } from '@postern/contract/alerts/rules'
import type { Selectable } from 'kysely'
import type { AlertsTable } from '../../db/alert-tables.ts'
import { SERVER_DISK } from './find/certificates-and-disk.ts'
import { SECURITY_UPDATES } from './find/edges.ts'

export type AlertRow = Selectable<AlertsTable>

/** What a message says, beside the alerts themselves. */
interface Around {
  /** The console's address, without a slash at its end. */
  console: string
  timeZone: string
}

/** Who hears of these hears of them in quiet hours too, and before all others. */
export const URGENT: readonly AlertKind[] = ['edge-gone', 'new-network']
export const isUrgent = (kind: AlertKind) => URGENT.includes(kind)

/** It just happens: it has no end, and is told once. */
export const isMoment = (kind: AlertKind) => kind === 'new-network'

type Words = (row: AlertRow) => readonly [begun: string, ended: string]

const WORDS: Readonly<Record<AlertKind, Words>> = {
  'node-lost': ({ name }) => [`${name} is offline`, `${name} is online again`],
  'service-unanswered': ({ name, node_name }) => {
    const place = node_name === null ? name : `${name} on ${node_name}`
    return [`${place} does not answer`, `${place} answers again`]
  },
  'certificate-ending': ({ name }) => [
    `The certificate of ${name} ends soon`,
    `The certificate of ${name} is fine again`,
  ],
  'edge-gone': ({ name }) => [`The edge ${name} is gone`, `The edge ${name} is back`],
  'edge-problem': ({ name }) => [`The edge ${name} has a problem`, `The edge ${name} works again`],
  'disk-full': ({ key, name }) => {
    const disk = key === SERVER_DISK ? 'The disk of the server' : `The disk of the edge ${name}`
    return [`${disk} is nearly full`, `${disk} has room again`]
  },
  'update-waiting': ({ key, name }) =>
    key.startsWith(SECURITY_UPDATES)
      ? [`Security updates wait on the edge ${name}`, `The edge ${name} has its security updates`]
      : [`The edge ${name} needs a person`, `The edge ${name} needs nobody any more`],
  'backup-failed': ({ name }) => [`The backup of ${name} failed`, `The backups of ${name} are fine again`],
  'new-network': ({ name }) => [`${name} signed in from a new network`, ''],
  figure: ({ name }) => [name, `${name}: back within its limit`],
}

/** One message about one alert. */
export function tellOne(around: Around, event: AlertEvent, row: AlertRow): AlertMessage {
  const told = toTold(around, row)
  const when = (time: number) => formatTime(time, around.timeZone)
  const lines = [
    ...(row.problem === '' ? [] : [row.problem]),
    ...(row.node_name !== null && row.kind !== 'node-lost' ? [`Node: ${row.node_name}`] : []),
    ...(row.address !== null ? [`Address: ${row.address}`] : []),
    `${isMoment(row.kind) ? 'At' : 'Since'}: ${when(row.since)}`,
    ...(row.cleared_at !== null && event === 'cleared' ? [`Ended: ${when(row.cleared_at)}`] : []),
    ...(event === 'repeated' ? ['This has been so for at least another day.'] : []),
  ]
  const urgent = event !== 'cleared' && isUrgent(row.kind)
  return {
    event,
    title: titleOf(event, row),
    text: lines.join('\n'),
    url: told.url,
    isUrgent: urgent,
    alerts: [told],
  }
}

/** The same without a word that people or agents have chosen: for a channel that refuses the whole one for good. */
export function withoutNames(message: AlertMessage): AlertMessage {
  const text = 'This channel refused the message with its names. The console has them.'
  // Paths there may name an address, or a search.
  const url = `${new URL(message.url).origin}/alerts`
  return { ...message, title: PLAIN_TITLES[message.event], text, url, alerts: [] }
}

const PLAIN_TITLES: Readonly<Record<AlertEvent, string>> = {
  opened: 'An alert has begun',
  happened: 'Something has happened that you should know',
  repeated: 'An alert has lasted another day',
  cleared: 'An alert has ended',
  summary: 'There is news of several alerts',
  test: 'A test',
}

export interface Told {
  event: AlertEvent
  row: AlertRow
}

/** How many of many are named. */
const NAMED = 10

/** One message about many. */
export function tellMany(around: Around, all: readonly Told[]): AlertMessage {
  const counts = Map.groupBy(all, ({ event }) => event)
  const parts = (['opened', 'happened', 'repeated', 'cleared'] as const).flatMap((event) => {
    const count = counts.get(event)?.length ?? 0
    return count === 0 ? [] : `${count} ${COUNTED[event]}`
  })
  const named = all.slice(0, NAMED)
  const rest = all.length - named.length
  const lines = named.map(({ event, row }) => `- ${titleOf(event, row)}`)
  return {
    event: 'summary',
    title: `Alerts: ${parts.join(', ')}`,
    text: [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'),
    url: `${around.console}/alerts`,
    isUrgent: all.some(({ event, row }) => event !== 'cleared' && isUrgent(row.kind)),
    alerts: named.map(({ row }) => toTold(around, row)),
  }
}

const COUNTED = { opened: 'new', happened: 'to know', repeated: 'still open', cleared: 'ended' } as const

function titleOf(event: AlertEvent, row: AlertRow): string {
  const [begun, ended] = WORDS[row.kind](row)
  if (event === 'cleared') return ended
  return event === 'repeated' ? `Still: ${begun}` : begun
}

function toTold({ console }: Around, row: AlertRow): ToldAlert {
  return {
    kind: row.kind,
    name: row.name,
    node: row.node_name,
    address: row.address,
    problem: row.problem,
    since: new Date(row.since).toISOString(),
    clearedAt: row.cleared_at === null ? null : new Date(row.cleared_at).toISOString(),
    url: `${console}${pathOf(row)}`,
  }
}

/** Where a person goes on from there. */
function pathOf({ kind, address, node_id, name }: AlertRow): string {
  if (address !== null) return `/why?url=${encodeURIComponent(address)}`
  if (node_id !== null) return `/nodes/${node_id}`
  if (kind === 'backup-failed') return '/settings'
  if (kind === 'certificate-ending') return `/domains?search=${encodeURIComponent(name)}`
  return kind.startsWith('edge') || kind === 'update-waiting' ? '/nodes/attention' : '/alerts'
}

/** Like `27 Nov 2026, 07:04 UTC`. */
function formatTime(time: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(time)
}
