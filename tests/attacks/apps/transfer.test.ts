import { createHash } from 'node:crypto'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import { shared } from '@postern/testkit/shared'
import { sendRaw } from '@postern/testkit/wire'
import { beforeAll, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../apps/edge/test/haproxy-lab.ts'
import { startUpstream } from '../../../apps/edge/test/upstream.ts'

const MIB = 1024 * 1024
/** 4 GiB in the long run, which is beyond 32 bits. */
const SIZE = (process.env.POSTERN_ATTACK_SECONDS ? 4096 : 64) * MIB
const HOST = 'files.example.com'
const MINUTES = 60_000

const files = shared(() =>
  startUpstream({
    async answer(incoming, response) {
      if (incoming.url === '/broken') {
        response.write('a part')
        setTimeout(() => response.destroy(), 100)
      } else if (incoming.method === 'PUT') response.end(await hashOf(incoming))
      else bytes().pipe(response)
    },
  }),
)
const lab = shared(makeHaproxyLab)
beforeAll(async () => {
  expect(await lab.apply([makeLabRoute(2, files.port, { domain: HOST })])).toEqual([])
})

/** Blocks that all differ, so that a lost or doubled one is seen. */
function bytes(): Readable {
  function* blocks() {
    const block = Buffer.alloc(MIB, 'postern')
    for (let index = 0; index < SIZE / MIB; index++) {
      block.writeUInt32BE(index)
      yield Buffer.from(block)
    }
  }
  return Readable.from(blocks())
}

async function hashOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha1')
  for await (const chunk of stream) hash.update(chunk)
  return hash.digest('hex')
}

function ask(method: string, body?: Readable): Promise<AsyncIterable<Buffer>> {
  const target = { port: lab.httpsPort, host: '127.0.0.1', servername: HOST, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, method, path: '/f', headers: { host: HOST } }, resolve)
    sent.on('error', reject)
    if (body) body.pipe(sent)
    else sent.end()
  })
}

test(
  'large transfers arrive unchanged, both ways',
  async () => {
    const expected = await hashOf(bytes())
    expect(await hashOf(await ask('GET'))).toBe(expected)
    let answer = ''
    for await (const chunk of await ask('PUT', bytes())) answer += chunk
    expect(answer).toBe(expected)
  },
  10 * MINUTES,
)

test('a chunked answer that breaks off is not taken as complete', async () => {
  const head = `GET /broken HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  const text = await sendRaw(lab.httpsPort, head)
  expect(text).toContain('a part')
  expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
})
