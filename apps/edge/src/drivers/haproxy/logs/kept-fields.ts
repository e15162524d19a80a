import type { Reason } from '@postern/contract/requests/reasons'

/** What HAProxy's two letters mean. */
export const ENDS: Readonly<Record<string, Reason>> = {
  SC: 'refused',
  sC: 'connect-timeout',
  xC: 'refused-or-tls',
  SH: 'no-answer',
  sH: 'answer-timeout',
  SD: 'broken-answer',
  sD: 'stalled-answer',
  PH: 'bad-answer',
  PR: 'not-http',
  RC: 'no-resources',
  IR: 'proxy',
  IC: 'proxy',
  IH: 'proxy',
  ID: 'proxy',
  CC: 'left',
  CR: 'left',
  CH: 'left',
  CD: 'left',
  cR: 'slow',
  cH: 'slow',
  cD: 'silent',
}

/** What no line says of what it is about. */
export const NOTHING_SAID = {
  person: null,
  method: null,
  path: null,
  query: null,
  status: null,
  received: 0,
  sent: 0,
  connect: null,
  response: null,
  total: null,
  target: null,
  reason: null,
  detail: null,
} as const

/** A path ends at its first question mark. */
export function withoutQuery(asked: string): string {
  const mark = asked.indexOf('?')
  return mark < 0 ? asked : asked.slice(0, mark)
}

export function findQuery(asked: string, request: string): string | null {
  const query = asked.slice(request.length + 1)
  return query === '' || query === '-' ? null : plain(query)
}

/** HAProxy writes no longer ones; the file of kept requests has room for as much of each. */
const LONGEST = 1500

/** Visitors write parts of it. */
export function plain(text: string): string {
  const some = text.slice(0, LONGEST)
  return /[^\x20-\x7e]/.test(some) ? some.replace(/[^\x20-\x7e]/g, '?') : some
}

export function findPerson(text = '-'): string | null {
  if (text === '-' || text === '') return null
  try {
    return decodeURIComponent(text).slice(0, 254)
  } catch {
    // No e-mail that the server has sealed.
    return null
  }
}

/** HAProxy's -1 is what did not come to pass. */
export function findTime(ms: string | undefined): number | null {
  const value = Number(ms ?? -1)
  return value < 0 ? null : value
}

/** Like `10.64.0.2:80`, or `-:-` when nothing was dialled. */
export function findTarget(target = ''): string | null {
  const colon = target.lastIndexOf(':')
  const [address, port] = [target.slice(0, colon), target.slice(colon + 1)]
  if (!/^[0-9a-f.:]+$/i.test(address) || !/^[1-9]\d{0,4}$/.test(port)) return null
  return address.includes(':') ? `[${address}]:${port}` : target
}
