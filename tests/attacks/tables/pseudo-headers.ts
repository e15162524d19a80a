import type { Field, Http2Outcome } from '@postern/testkit/http2-wire'
import { HOST, ID } from '../lab/proxy-lab.ts'

export interface Http2Attack {
  fields: readonly Field[]
  body?: string
  trailers?: readonly Field[]
  /**
   * What the visitor may see, and with 200 the head that the service gets, as method and path. HAProxy releases
   * differ in how they refuse: any of the outcomes will do.
   */
  outcomes: readonly (readonly [Http2Outcome, got?: string])[]
}

const M: Field = [':method', 'GET']
const S: Field = [':scheme', 'https']
const A: Field = [':authority', HOST]
const P: Field = [':path', '/f']
const X: Field = ['x-attack', ID]
const POST: Field = [':method', 'POST']
const SMUGGLED = `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${ID}\r\n\r\n`

const gets = (got: string, fields: readonly Field[], body?: string): Http2Attack => ({
  fields,
  ...(body === undefined ? {} : { body }),
  outcomes: [[200, got]],
})
const ends = (outcome: Http2Outcome, fields: readonly Field[], body?: string): Http2Attack => ({
  fields,
  ...(body === undefined ? {} : { body }),
  outcomes: [[outcome]],
})
/** Refused with our page, or by HAProxy itself. */
const refused = (fields: readonly Field[]): Http2Attack => ({ fields, outcomes: [[400], ['reset']] })
const plainWith = (name: string, value: string): readonly Field[] => [M, S, A, P, X, [name, value]]

export const HTTP2: readonly (readonly [name: string, attack: Http2Attack])[] = [
  ['a plain request', gets('GET /f', [M, S, A, P, X])],
  ['in another order', gets('GET /f', [P, A, S, M, X])],
  ['no method', ends('reset', [S, A, P, X])],
  ['no scheme', ends('reset', [M, A, P, X])],
  ['no path', ends('reset', [M, S, A, X])],
  ['no authority and no host', ends(400, [M, S, P, X])],
  ['a host instead of the authority', gets('GET /f', [M, S, P, X, ['host', HOST]])],
  ['a host beside the authority', gets('GET /f', [M, S, A, P, X, ['host', HOST]])],
  ['a host that differs from the authority', gets('GET /f', [M, S, A, P, X, ['host', 'b.example.com']])],
  ['two hosts', gets('GET /f', [M, S, P, X, ['host', HOST], ['host', 'b.example.com']])],
  ['two methods', ends('reset', [M, M, S, A, P, X])],
  ['two schemes', ends('reset', [M, S, S, A, P, X])],
  ['two authorities', ends('reset', [M, S, A, [':authority', 'b.example.com'], P, X])],
  ['two paths', ends('reset', [M, S, A, P, [':path', '/admin'], X])],
  ['a path after a header', ends('reset', [M, S, A, X, P])],
  ['an authority after a header', ends('reset', [M, S, P, X, A])],
  ['an unknown pseudo-header', ends('reset', [M, S, A, P, [':x', 'y'], X])],
  ['a status', ends('reset', [M, S, A, P, [':status', '200'], X])],
  [
    'a protocol',
    {
      fields: [M, S, A, P, [':protocol', 'websocket'], X],
      outcomes: [[200, 'GET /f'], ['reset']],
    },
  ],
  [
    'a WebSocket over HTTP/2',
    gets('GET /f', [[':method', 'CONNECT'], S, A, P, [':protocol', 'websocket'], X]),
  ],
  ['CONNECT', ends(400, [[':method', 'CONNECT'], [':authority', '127.0.0.1:22'], X])],
  [
    'a pseudo-header as a trailer',
    { fields: [POST, S, A, P, X], body: 'abc', trailers: [[':path', '/admin']], outcomes: [['reset']] },
  ],
  [
    'a pseudo-header as a trailer of a safe method',
    { fields: [M, S, A, P, X], body: 'abc', trailers: [[':path', '/admin']], outcomes: [['reset']] },
  ],
  ['a scheme of file', ends(400, [M, [':scheme', 'file'], A, P, X])],
  ['a scheme of a WebSocket', ends(400, [M, [':scheme', 'wss'], A, P, X])],
  ['a scheme with a request in it', ends(400, [M, [':scheme', `https://${HOST}/admin?`], A, P, X])],
  ['an empty scheme', ends(400, [M, [':scheme', ''], A, P, X])],
  ['an empty path', ends('reset', [M, S, A, [':path', ''], X])],
  ['an empty method', ends('reset', [[':method', ''], S, A, P, X])],
  ['an empty authority', ends(400, [M, S, [':authority', ''], P, X])],
  ['a method with a request in it', ends('reset', [[':method', 'GET /admin HTTP/1.1\r\nX: '], S, A, P, X])],
  ['a method with a blank', ends(400, [[':method', 'GET /admin'], S, A, P, X])],
  ['a method of small letters', gets('get /f', [[':method', 'get'], S, A, P, X])],
  ['a path with CR LF', ends('reset', [M, S, A, [':path', '/f HTTP/1.1\r\nX: y\r\n\r\nGET /admin'], X])],
  ['a path with a blank', ends('reset', [M, S, A, [':path', '/f HTTP/1.1'], X])],
  ['a path with a NUL', ends('reset', [M, S, A, [':path', '/f\0'], X])],
  ['a path with a tab', ends('reset', [M, S, A, [':path', '/f\tx'], X])],
  // Python's http.server reads `/admin` here.
  ['a path with a no-break space', refused([M, S, A, [':path', '/admin\xa0'], X])],
  ['a path with a line break of C1', refused([M, S, A, [':path', '/admin\x85'], X])],
  ['a query with bytes that are no ASCII', refused([M, S, A, [':path', '/f?\xc3\xa9'], X])],
  ['a path without a slash', ends('reset', [M, S, A, [':path', 'f'], X])],
  ['a path with a whole address', ends('reset', [M, S, A, [':path', `http://${HOST}/admin`], X])],
  // HAProxy 3.0 reads a bare host as its front page.
  ['a path of * with GET', { fields: [M, S, A, [':path', '*'], X], outcomes: [[400], [200, 'GET /']] }],
  [
    'a path of * with OPTIONS',
    {
      fields: [[':method', 'OPTIONS'], S, A, [':path', '*'], X],
      outcomes: [
        [200, 'OPTIONS *'],
        [200, 'OPTIONS /'],
      ],
    },
  ],
  ['a fragment', ends('reset', [M, S, A, [':path', '/f#/admin'], X])],
  ['an authority with a path', refused([M, S, [':authority', `${HOST}/admin`], P, X])],
  ['an authority with a user', refused([M, S, [':authority', `x@${HOST}`], P, X])],
  ['an authority with CR LF', ends('reset', [M, S, [':authority', `${HOST}\r\nX: y`], P, X])],
  ['an authority with a blank', refused([M, S, [':authority', `${HOST} x`], P, X])],
  ['an authority with a comma', refused([M, S, [':authority', `${HOST},b.example.com`], P, X])],
  ['a name with CR LF', ends('reset', plainWith('x-a: b\r\nx-c', 'd'))],
  ['a name with LF', ends('reset', plainWith('x-a\nx-c', 'd'))],
  ['a name with a NUL', ends('reset', plainWith('x-a\0', 'd'))],
  ['a name with a colon', ends('reset', plainWith('x-forwarded-for: 1.2.3.4', 'd'))],
  ['a name with a blank', ends('reset', plainWith('transfer-encoding ', 'chunked'))],
  ['a name in capitals', ends('reset', plainWith('X-A', 'd'))],
  ['a name of nothing', ends('closed', plainWith('', 'd'))],
  ['a value with CR LF', ends('reset', plainWith('x-a', 'b\r\nx-forwarded-for: 1.2.3.4'))],
  ['a value with LF', ends('reset', plainWith('x-a', 'b\nx-forwarded-for: 1.2.3.4'))],
  ['a value with CR', ends('reset', plainWith('x-a', 'b\rx-forwarded-for: 1.2.3.4'))],
  ['a value with a NUL', ends('reset', plainWith('x-a', 'b\0c'))],
  ['a value with a vertical tab', ends(400, plainWith('x-a', 'b\x0bremote-user: eve'))],
  ['a value with another control character', ends(400, plainWith('x-a', 'b\x1cremote-user: eve'))],
  ['a value with DEL', ends(400, plainWith('x-a', 'b\x7fc'))],
  ['a value with a tab and bytes that are no ASCII', gets('GET /f', plainWith('x-a', 'b\t\xc3\x85'))],
  ['a value with a whole request', ends('reset', plainWith('x-a', `b\r\n\r\n${SMUGGLED}`))],
  ['Connection', ends('reset', plainWith('connection', 'x-forwarded-for'))],
  ['Keep-Alive', ends('reset', plainWith('keep-alive', 'timeout=5'))],
  ['Proxy-Connection', ends('reset', plainWith('proxy-connection', 'keep-alive'))],
  ['Upgrade', ends('reset', plainWith('upgrade', 'websocket'))],
  ['Transfer-Encoding', ends('reset', plainWith('transfer-encoding', 'chunked'))],
  ['H2.TE', ends('reset', [POST, S, A, P, X, ['transfer-encoding', 'chunked']], `0\r\n\r\n${SMUGGLED}`)],
  [
    'H2.TE with an underscore',
    gets('POST /f', [POST, S, A, P, X, ['transfer_encoding', 'chunked']], `0\r\n\r\n${SMUGGLED}`),
  ],
  ['H2.CL too small', ends('reset', [POST, S, A, P, X, ['content-length', '0']], SMUGGLED)],
  ['H2.CL too large', ends('reset', [POST, S, A, P, X, ['content-length', '99']], 'abc')],
  ['H2.CL twice', ends('reset', [POST, S, A, P, X, ['content-length', '3'], ['content-length', '5']], 'abc')],
  ['H2.CL in hex', ends('reset', [POST, S, A, P, X, ['content-length', '0x3']], 'abc')],
  ['H2.CL negative', ends('reset', [POST, S, A, P, X, ['content-length', '-1']], 'abc')],
  [
    'H2.CL beyond 64 bits',
    ends('reset', [POST, S, A, P, X, ['content-length', '18446744073709551619']], 'abc'),
  ],
  ['H2.CL that agrees', gets('POST /f', [POST, S, A, P, X, ['content-length', '3']], 'abc')],
  ['a body without a length', gets('POST /f', [POST, S, A, P, X], SMUGGLED)],
  ['TE of anything', ends('reset', plainWith('te', 'gzip'))],
]
