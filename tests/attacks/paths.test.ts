import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { describe, expect, test } from 'vitest'
import { HOST, STRIPPED_HOST, startProxyLab } from './lab/proxy-lab.ts'
import { PATHS, type PathVerdict } from './tables/paths.ts'

const lab = shared(startProxyLab)

const REFUSED = 'nobody'
const MAY: Record<PathVerdict, readonly string[]> = {
  admin: ['admin'],
  root: ['root'],
  refused: [REFUSED],
  'not root': ['admin', REFUSED],
  'not admin': ['root', REFUSED],
}

function whoGot(id: string): string {
  return (
    lab
      .reached(id)
      .map(({ by }) => by)
      .join(' and ') || REFUSED
  )
}

describe.concurrent('the path', () => {
  test.each(PATHS)('%j goes to %s', async (target, verdict) => {
    const id = lab.nextId()
    const head = `GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${id}\r\nConnection: close\r\n\r\n`
    const statuses = statusesIn(await sendRaw(lab.port, head))
    expect(MAY[verdict]).toContain(whoGot(id))
    expect(statuses).toEqual([whoGot(id) === REFUSED ? 400 : 200])
  })

  test.each(PATHS)('%j goes to %s over HTTP/2', async (target, verdict) => {
    const id = lab.nextId()
    const status = await askHttp2(lab.port, [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', target],
      ['x-attack', id],
    ])
    // HAProxy reads a bare host as its front page.
    if (target === '*') expect(lab.reached(id).map(({ request }) => request.target)).not.toContain('*')
    else expect(MAY[verdict]).toContain(whoGot(id))
    if (whoGot(id) === REFUSED) expect([400, 'reset']).toContain(status)
    else expect(status).toBe(200)
  })
})

describe.concurrent('the path, of which a service does not get its prefix,', () => {
  test.each(PATHS)('%j goes to %s', async (target, verdict) => {
    const id = lab.nextId()
    const head = `GET ${target} HTTP/1.1\r\nHost: ${STRIPPED_HOST}\r\nX-Attack: ${id}\r\nConnection: close\r\n\r\n`
    await sendRaw(lab.port, head)
    const by = whoGot(id)
    expect(MAY[verdict]).toContain(by)
    // A tab after the target ends it, as a blank does.
    const got = by === 'admin' ? target.trimEnd().replace(/^\/admin[/\\]*/, '/') : target
    expect(lab.reached(id).map(({ request }) => request.target)).toEqual(by === REFUSED ? [] : [got])
  })
})

test('no request that two programs could read differently got through', () => {
  expect(lab.faults()).toEqual([])
})
