import { constants, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, messageOf } from '@postern/host/errors'
import * as z from 'zod/mini'
import { parseJson } from '../files.ts'
import { MAX_OFFERS, type Offer, Offered, type Offers } from './offer.ts'

export interface FileOptions {
  path: string
  onOffers(offers: Offers): void
  onFailure(problem: string): void
}

const CHECK_INTERVAL = 2000
const MAX_SIZE = 1024 * 1024

/**
 * Reads the file when its text has changed, until the signal. Checking every two seconds also works where a
 * Kubernetes volume replaces a whole directory, for which there is no event.
 */
export async function followFile(
  { path, onOffers, onFailure }: FileOptions,
  signal: AbortSignal,
): Promise<void> {
  let last: string | undefined
  while (!signal.aborted) {
    try {
      const text = await readBounded(path)
      if (text !== last) onOffers(readOffers(text))
      last = text
    } catch (error) {
      last = undefined
      onFailure(codeOf(error) === 'ENOENT' ? `there is no file ${path}` : `${path}: ${messageOf(error)}`)
    }
    await pause(CHECK_INTERVAL, undefined, { signal }).catch(() => undefined)
  }
}

async function readBounded(path: string): Promise<string> {
  // A FIFO would block a thread until its other end opens.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    assertTrusted(await file.stat())
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_SIZE + 1), 0, MAX_SIZE + 1, 0)
    if (bytesRead > MAX_SIZE) throw new RangeError('the file is larger than 1 MB')
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** An agent that runs as root publishes only for root. In a container it does not, and the file is mounted there. */
function assertTrusted(found: Stats): void {
  const { uid, gid, mode } = found
  if (!found.isFile()) throw new Error('it is not a file')
  if (process.getuid?.() !== 0) return
  const isOthersToo = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0)
  if (uid !== 0 || isOthersToo) throw new Error('it must belong to root and be writable by root only')
}

const Entry = z.extend(Offered, { key: z.optional(z.string()) })

/**
 * Parses a list of services in JSON, in the form of the server's API.
 * @throws Error for a text that is no list: the last list then stays valid
 */
export function readOffers(text: string): Offers {
  const list = parseJson(text, z.array(z.unknown()))
  if (!list) throw new Error('this is no list in JSON')
  const services: Offer[] = []
  const problems: string[] = []
  for (const [index, value] of list.slice(0, MAX_OFFERS).entries()) {
    const { data, error } = Entry.safeParse(value)
    const key = data && (data.key ?? keyOf(data.name))
    if (data && key !== undefined && KEY.test(key)) services.push({ ...data, key })
    else if (data) problems.push(`entry ${index + 1} is not published: its key must be printable ASCII`)
    else problems.push(`entry ${index + 1} is not published: ${describeIssue(error)}`)
  }
  if (list.length > MAX_OFFERS) problems.push(`only the first ${MAX_OFFERS} entries are published`)
  return { services, problems }
}

/** The keys that the server accepts. */
const KEY = /^[!-~]([ -~]{0,198}[!-~])?$/

function keyOf(name: string): string {
  return KEY.test(name) ? name : encodeURIComponent(name).slice(0, 200)
}

function describeIssue({ issues: [issue] }: z.core.$ZodError): string {
  if (issue?.code === 'unrecognized_keys') return `Unknown field ${issue.keys.slice(0, 3).join(', ')}`
  return `${issue?.path.join('.') || 'it'} is missing or of the wrong type`
}
