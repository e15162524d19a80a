import { HOST, ID } from '../lab/proxy-lab.ts'

/** What the visitor sees, and what the service gets: each request as its method, path and body. */
export interface Outcome {
  statuses: number[]
  got: string[]
}

/** HAProxy releases differ in how they refuse: any of the outcomes will do. */
export type Framing = readonly [name: string, bytes: string, ...outcomes: readonly Outcome[]]

const SMUGGLED = `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${ID}\r\n\r\n`
/** A request that a service may see when it reads `body` as empty. */
const HIDDEN = `0\r\n\r\n${SMUGGLED}`
const WHOLE = '3\r\nabc\r\n0\r\n\r\n'

const start = (line: string, fields: string[], rest: string) =>
  [line, `Host: ${HOST}`, `X-Attack: ${ID}`, ...fields, '', rest].join('\r\n')
const post = (fields: string[], rest: string) => start('POST /f HTTP/1.1', fields, rest)
const get = (fields: string[], rest: string) => start('GET /f HTTP/1.1', fields, rest)
const chunked = (rest: string) => post(['Transfer-Encoding: chunked'], rest)

const refused: Outcome = { statuses: [400], got: [] }
/** What follows is another request: HAProxy, too, read the length as 3. */
const refusedAlone: Outcome = { statuses: [400, 200], got: ['GET /smuggled '] }
/** HAProxy hangs up. */
const cut: Outcome = { statuses: [], got: [] }
/** The service waits for more than will arrive. */
const waits: Outcome = { statuses: [], got: [] }
const one = (got: string): Outcome => ({ statuses: [200], got: [got] })
const two = (first: string): Outcome => ({ statuses: [200, 200], got: [first, 'GET /smuggled '] })

const LENGTH = `Content-Length: ${HIDDEN.length}`
const CHUNKED = 'Transfer-Encoding: chunked'

/** Two requests may arrive only where every program reads two. */
export const FRAMINGS: readonly Framing[] = [
  ['two plain requests', get([], SMUGGLED), two('GET /f ')],
  ['a length and then another request', post(['Content-Length: 3'], `abc${SMUGGLED}`), two('POST /f abc')],
  ['chunks and then another request', chunked(`${WHOLE}${SMUGGLED}`), two('POST /f abc')],
  ['CL.TE', post([LENGTH, CHUNKED], HIDDEN), one('POST /f ')],
  ['TE.CL', post([CHUNKED, 'Content-Length: 4'], `${WHOLE}${SMUGGLED}`), one('POST /f abc')],
  ['TE after a length of 0', post(['Content-Length: 0', CHUNKED], HIDDEN), one('POST /f ')],
  ['two lengths that differ', post(['Content-Length: 3', 'Content-Length: 5'], 'abcde'), refused, cut],
  ['two lengths that agree', post(['Content-Length: 3', 'Content-Length: 3'], 'abc'), one('POST /f abc')],
  ['two lengths in one line', post(['Content-Length: 3, 5'], 'abcde'), refused],
  ['the same length twice in one line', post(['Content-Length: 3, 3'], 'abc'), one('POST /f abc')],
  ['a negative length', post(['Content-Length: -1'], 'abc'), refused],
  ['a length with a plus', post(['Content-Length: +3'], 'abc'), refused],
  ['a length in hex', post(['Content-Length: 0x3'], 'abc'), refused],
  ['a length with a point', post(['Content-Length: 3.0'], 'abc'), refused],
  ['a length with an exponent', post(['Content-Length: 3e0'], 'abc'), refused],
  ['a length with an underscore', post(['Content-Length: 1_0'], 'abc'), refused],
  ['a length with a blank inside', post(['Content-Length: 3 3'], 'abc'), refused],
  ['a length of nothing', post(['Content-Length:'], SMUGGLED), refused],
  ['a length of 64 bits', post(['Content-Length: 18446744073709551615'], 'abc'), refused],
  ['a length beyond 64 bits', post([`Content-Length: ${'9'.repeat(40)}`], 'abc'), refused],
  ['a length that wraps to 3 in 32 bits', post(['Content-Length: 4294967299'], `abc${SMUGGLED}`), waits],
  [
    'a length that wraps to 3 in 64 bits',
    post(['Content-Length: 18446744073709551619'], `abc${SMUGGLED}`),
    refusedAlone,
    refused,
  ],
  ['a length with zeros before it', post(['Content-Length: 0003'], `abc`), one('POST /f abc')],
  ['a length in letters', post(['Content-Length: three'], 'abc'), refused],
  ['a length with a NUL', post(['Content-Length: 3\0'], 'abc'), refused],
  ['a length behind a tab', post(['Content-Length:\t3'], 'abc'), one('POST /f abc')],
  [
    'a length with an underscored name',
    post(['Content_Length: 5', 'Content-Length: 3'], 'abc'),
    one('POST /f abc'),
  ],
  ['a blank before the colon of the length', post([`Content-Length : ${HIDDEN.length}`], HIDDEN), refused],
  ['a tab before the colon of the length', post([`Content-Length\t: ${HIDDEN.length}`], HIDDEN), refused],
  ['a blank before the colon of the coding', post(['Transfer-Encoding : chunked', LENGTH], HIDDEN), refused],
  [
    'a coding on a folded line',
    post(['X-A: b', ' Transfer-Encoding: chunked', LENGTH], HIDDEN),
    one(`POST /f ${HIDDEN}`),
  ],
  ['a folded coding', post(['Transfer-Encoding:', ' chunked', LENGTH], HIDDEN), one('POST /f ')],
  ['a fold before the first header', start('POST /f HTTP/1.1\r\n X: y', [LENGTH], HIDDEN), refused],
  ['a coding behind a vertical tab', post(['Transfer-Encoding:\x0bchunked', LENGTH], HIDDEN), refused],
  ['a coding behind a form feed', post(['Transfer-Encoding:\x0cchunked', LENGTH], HIDDEN), refused],
  ['a coding behind a non-breaking blank', post(['Transfer-Encoding:\xa0chunked', LENGTH], HIDDEN), refused],
  ['a coding with a NUL', post(['Transfer-Encoding: chunked\0', LENGTH], HIDDEN), refused],
  ['a coding with a bare CR', post(['Transfer-Encoding: chunked\rX: y', LENGTH], HIDDEN), refused],
  [
    'a coding behind a control character',
    post(['X-A: b\x1cTransfer-Encoding: chunked', LENGTH], HIDDEN),
    refused,
  ],
  ['a coding in quotes', post(['Transfer-Encoding: "chunked"', LENGTH], HIDDEN), refused],
  ['a coding that only looks like it', post(['Transfer-Encoding: xchunked', LENGTH], HIDDEN), refused],
  ['a coding before a comma', post(['Transfer-Encoding: chunked,', LENGTH], HIDDEN), refused],
  ['a coding with a parameter', post(['Transfer-Encoding: chunked;q=1', LENGTH], HIDDEN), refused],
  ['identity', post(['Transfer-Encoding: identity', LENGTH], HIDDEN), refused],
  ['chunked and identity', post(['Transfer-Encoding: chunked, identity', LENGTH], HIDDEN), refused],
  ['chunked in two headers', post([CHUNKED, CHUNKED], WHOLE), refused],
  ['chunked twice in one header', post(['Transfer-Encoding: chunked, chunked'], WHOLE), refused],
  ['chunked before gzip', post(['Transfer-Encoding: chunked, gzip'], WHOLE), refused],
  ['a coding in capitals', post(['TRANSFER-ENCODING: CHUNKED'], WHOLE), one('POST /f abc')],
  [
    'a coding with an underscored name',
    post(['Transfer_Encoding: chunked', 'Content-Length: 3'], 'abc'),
    one('POST /f abc'),
  ],
  ...['0.9', '0.0', '0.1'].flatMap((version): Framing[] => [
    [`GET of HTTP/${version}`, start(`GET /f HTTP/${version}`, [], ''), refused],
    [`HEAD of HTTP/${version}`, start(`HEAD /f HTTP/${version}`, [], ''), refused],
    [`chunks in HTTP/${version}`, start(`POST /f HTTP/${version}`, [CHUNKED], WHOLE), refused],
  ]),
  ['chunks in HTTP/1.0', start('POST /f HTTP/1.0', [CHUNKED], WHOLE), refused],
  ['chunks and a length in HTTP/1.0', start('POST /f HTTP/1.0', [CHUNKED, LENGTH], HIDDEN), refused],
  ['a chunk extension', chunked('3;a=b\r\nabc\r\n0\r\n\r\n'), one('POST /f abc')],
  [
    'a chunk extension with a bare LF',
    chunked(`3;a\nabc\r\n0\r\n\r\n${SMUGGLED}`),
    two('POST /f abc'),
    refused,
  ],
  ['a chunk extension with a bare CR', chunked(`3;a\rb\r\nabc\r\n0\r\n\r\n`), refused],
  ['a chunk of a negative size', chunked('-3\r\nabc\r\n0\r\n\r\n'), refused],
  ['a chunk of a size with 0x', chunked('0x3\r\nabc\r\n0\r\n\r\n'), refused],
  ['a chunk of a huge size', chunked('ffffffffffffffff3\r\nabc\r\n0\r\n\r\n'), refused],
  ['a chunk of a size with a blank before', chunked(' 3\r\nabc\r\n0\r\n\r\n'), refused],
  ['a chunk of no size', chunked('\r\nabc\r\n0\r\n\r\n'), refused],
  ['a chunk that ends with a bare LF', chunked('3\nabc\r\n0\r\n\r\n'), one('POST /f abc'), refused],
  ['a chunk longer than its size', chunked(`3\r\nabcd\r\n0\r\n\r\n${SMUGGLED}`), refused],
  ['a trailer that is a length', chunked(`3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n`), one('POST /f abc')],
  [
    'bare LF for every line',
    `GET /f HTTP/1.1\nHost: ${HOST}\nX-Attack: ${ID}\n\n${SMUGGLED}`,
    two('GET /f '),
  ],
  ['a bare CR for a line', `GET /f HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${ID}\rX: y\r\n\r\n`, refused],
  ['a bare CR before the end of the head', get(['X: y\r'], SMUGGLED), refused],
  ['an end of the head in bare LF', get([`X: y\n\n${SMUGGLED}`], ''), two('GET /f ')],
  ['blank lines before the request', `\r\n\r\n${get([], '')}`, one('GET /f ')],
  ['a header without a colon', get(['Nonsense'], ''), refused],
  ['a header without a name', get([': x'], ''), refused],
  ['a NUL in a name', get(['X\0Y: z'], ''), refused],
  [
    'a body that GET does not announce',
    get([], `abc${SMUGGLED}`),
    { statuses: [200, 200], got: ['GET /f ', 'abcGET /smuggled '] },
  ],
  ['a GET with a length', get([LENGTH], HIDDEN), one(`GET /f ${HIDDEN}`)],
  ['a version of the future', start('GET /f HTTP/1.2', [], ''), one('GET /f ')],
  ['a version of the past', `GET /f\r\nHost: ${HOST}\r\n\r\n`, refused],
  ['a version in small letters', start('GET /f http/1.1', [], ''), refused],
  ['two blanks in the first line', start('GET  /f HTTP/1.1', [], ''), one('GET /f ')],
  ['a tab in the first line', start('GET\t/f HTTP/1.1', [], ''), one('GET /f ')],
  ['no blank in the first line', start('GET/f HTTP/1.1', [], ''), refused],
  ['a preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${SMUGGLED}`, { statuses: [], got: [] }],
  [
    'an upgrade to HTTP/2',
    get(
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
      SMUGGLED,
    ),
    two('GET /f '),
  ],
  [
    'an upgrade to a WebSocket without its key',
    get(['Connection: Upgrade', 'Upgrade: websocket'], SMUGGLED),
    refused,
  ],
  [
    'an upgrade that the service declines',
    get(['Connection: Upgrade', 'Upgrade: x'], SMUGGLED),
    two('GET /f '),
  ],
  [
    'Expect with a body at once',
    post(['Expect: 100-continue', 'Content-Length: 3'], `abc${SMUGGLED}`),
    two('POST /f abc'),
  ],
]
