/** A request as received from the wire, in latin1. */
export interface RawRequest {
  method: string
  target: string
  /** The whole head, with the request line. */
  head: string
  /** Names in lower case. */
  headers: [name: string, value: string][]
  body: string
  /** The lines after the last chunk. */
  trailers: string[]
  /** The request is complete. */
  isWhole: boolean
}

export interface Parser {
  /** @returns false once the bytes are no longer plain requests */
  take(text: string): boolean
}

const REQUEST_LINE = /^([A-Za-z!#$%&'*+.^_`|~-]+) (\S+) HTTP\/1\.[01]$/
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/

type Framing = { kind: 'none' } | { kind: 'length'; left: number } | { kind: 'chunked' }

/**
 * Parses requests as strictly as possible, and records each deviation as a fault. A request without a fault is read
 * the same way by any program behind the proxy.
 */
export function parseRequests(into: { requests: RawRequest[]; faults: string[] }, onEnd: () => void): Parser {
  let rest = ''
  let current: { request: RawRequest; framing: Framing } | undefined
  const step = (): boolean => {
    if (!current) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0) return false
      const request = parseHead(rest.slice(0, end))
      current = { request, framing: framingOf(request) }
      into.requests.push(request)
      rest = rest.slice(end + 4)
    }
    const { request, framing } = current
    const used = readBody(request, framing, rest)
    rest = rest.slice(used.bytes)
    if (!used.isWhole) return false
    current = undefined
    request.isWhole = true
    onEnd()
    return true
  }
  return {
    take(text) {
      rest += text
      try {
        while (step());
        return true
      } catch (fault) {
        into.faults.push(String(fault))
        return false
      }
    },
  }
}

function parseHead(head: string): RawRequest {
  const [line = '', ...lines] = head.split('\r\n')
  const [, method = '', target = ''] = REQUEST_LINE.exec(line) ?? refuse('request line', line)
  const headers = lines.map((text): [string, string] => {
    const [, name = '', value = ''] = FIELD.exec(text) ?? refuse('header', text)
    return [name.toLowerCase(), value]
  })
  return { method, target, head, headers, body: '', trailers: [], isWhole: false }
}

function framingOf({ headers, head }: RawRequest): Framing {
  const all = (wanted: string) => headers.filter(([name]) => name === wanted).map(([, value]) => value)
  const [lengths, codings] = [all('content-length'), all('transfer-encoding')]
  if (all('host').length !== 1) refuse('number of hosts', head)
  if (lengths.length + codings.length > 1) refuse('more than one framing', head)
  if (lengths.some((length) => !/^\d{1,15}$/.test(length))) refuse('length', head)
  if (
    codings.some(
      (coding) => coding.toLowerCase() !== 'chunked' || head.startsWith('HTTP/1.0', head.indexOf('\r\n') - 8),
    )
  )
    refuse('coding', head)
  if (codings.length > 0) return { kind: 'chunked' }
  return lengths[0] === undefined ? { kind: 'none' } : { kind: 'length', left: Number(lengths[0]) }
}

interface Used {
  bytes: number
  isWhole: boolean
}

function readBody(request: RawRequest, framing: Framing, text: string): Used {
  if (framing.kind === 'none') return { bytes: 0, isWhole: true }
  if (framing.kind === 'chunked') return readChunks(request, text)
  const part = text.slice(0, framing.left)
  request.body += part
  framing.left -= part.length
  return { bytes: part.length, isWhole: framing.left === 0 }
}

function readChunks(request: RawRequest, text: string): Used {
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at)
    if (end < 0) return { bytes: at, isWhole: false }
    const [, size = ''] =
      /^([0-9A-Fa-f]{1,8})$/.exec(text.slice(at, end)) ?? refuse('chunk', text.slice(at, end))
    const length = Number.parseInt(size, 16)
    const beyond = end + 2 + length
    if (length === 0) return readTrailers(request, text, at, end)
    if (text.length < beyond + 2) return { bytes: at, isWhole: false }
    if (text.slice(beyond, beyond + 2) !== '\r\n') refuse('end of a chunk', text.slice(end, beyond + 2))
    request.body += text.slice(end + 2, beyond)
    at = beyond + 2
  }
}

function readTrailers(request: RawRequest, text: string, at: number, end: number): Used {
  const last = text.indexOf('\r\n\r\n', end)
  if (last < 0) return { bytes: at, isWhole: false }
  const lines = text
    .slice(end + 2, last)
    .split('\r\n')
    .filter(Boolean)
  // HAProxy does not check the names of trailers; they do not affect framing.
  for (const line of lines) if (!/^[^:\r\n]+:[^\r\n]*$/.test(line)) refuse('trailer', line)
  request.trailers = lines
  return { bytes: last + 4, isWhole: true }
}

function refuse(what: string, text: string): never {
  throw new Error(`${what}: ${JSON.stringify(text)}`)
}
