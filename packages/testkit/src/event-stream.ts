import { checkEvents } from './contract-check.ts'

/** One server-sent event. */
export interface ServerEvent {
  event: string
  data: string
  id: string
}

/** A stream of a server, read like a browser's EventSource. */
export interface FollowedStream {
  status: number
  headers: Headers
  /** All that came. */
  text: string
  isEnded: boolean
  /**
   * The data of all events of a name so far, parsed.
   * @throws Error for one that does not match the contract
   */
  listData(name?: string): unknown[]
  lastId(): string
  close(): void
}

/** Opens a stream; a refused one ends at once. */
export async function followStream(
  url: string,
  headers: Record<string, string> = {},
): Promise<FollowedStream> {
  const controller = new AbortController()
  const response = await fetch(url, { headers, signal: controller.signal })
  const stream: FollowedStream = {
    status: response.status,
    headers: response.headers,
    text: '',
    isEnded: false,
    listData(name = 'message') {
      const events = parseEvents(stream.text)
      checkEvents(url, events)
      return events.flatMap(({ event, data }) => (event === name ? [JSON.parse(data)] : []))
    },
    lastId: () => parseEvents(stream.text).findLast(({ id }) => id !== '')?.id ?? '',
    close: () => controller.abort(),
  }
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true })
  }
  // One that the test closes ends as well.
  read()
    .catch(() => undefined)
    .finally(() => {
      stream.isEnded = true
    })
  return stream
}

/** The events with data among whole blocks. */
export function parseEvents(text: string): ServerEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map(parseEvent)
    .filter(({ data }) => data !== '')
}

function parseEvent(block: string): ServerEvent {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
  return { event: field('event') ?? 'message', data: field('data') ?? '', id: field('id') ?? '' }
}
