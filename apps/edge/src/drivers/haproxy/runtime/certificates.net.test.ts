import { readdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:tls'
import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { inSections } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { describe, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../../test/certificate.ts'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const settings = { publicHost: 'console.example.com', formerHosts: [], signInKeys: [], identityKeys: [] }

const lab = shared(() => makeHaproxyLab())
const driver = shared(() => lab.open())
const upstream = shared(() => startUpstream())
const one = shared(() => makeRealCertificate(1, ['one.example.com', 'uno.example.com']))
const two = shared(() => makeRealCertificate(2, ['two.example.com']))

/** The common name of the certificate that a server name is shown; the lab names them `cert-<id>`. */
function shown(servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: lab.httpsPort, servername, rejectUnauthorized: false }
    const socket = connect(options, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

const routes = () => [makeLabRoute(2, upstream.port, { domain: 'one.example.com' })]
const apply = (...certificates: EdgeCertificate[]) => lab.apply(routes(), certificates)
const files = async () => (await readdir(lab.paths.certificates)).sort()

describe('certificates', () => {
  test('come, change and go while HAProxy runs', async () => {
    expect(await apply()).toEqual([])
    const pid = await lab.pid()
    expect(await shown('one.example.com')).toBe('cert-0')
    expect(await apply(one, two)).toEqual([])
    expect(await shown('one.example.com')).toBe('cert-1')
    expect(await shown('uno.example.com')).toBe('cert-1')
    expect(await shown('two.example.com')).toBe('cert-2')
    for (const name of ['three.example.com', 'sub.one.example.com', ''])
      expect(await shown(name)).toBe('cert-0')

    const renewed = { ...(await makeRealCertificate(9, ['one.example.com'])), id: 1 }
    expect(await apply(renewed, two)).toEqual([])
    expect(await shown('one.example.com')).toBe('cert-9')
    expect(await shown('uno.example.com')).toBe('cert-0')

    expect(await apply(two)).toEqual([])
    expect(await shown('one.example.com')).toBe('cert-0')
    expect(await files()).toEqual(['0.pem', '2.pem'])
    expect(await lab.command('show ssl cert')).not.toContain('/1.pem')
    expect(await lab.pid()).toBe(pid)
  })

  test("the installation's own can be renewed", async () => {
    const own = { ...(await makeRealCertificate(8, ['console.example.com'])), id: 0 }
    const wanted = { routes: inSections(routes()), signIns: new Map(), settings }
    expect(await driver.apply({ ...wanted, certificates: [own, two] })).toEqual([])
    expect(await shown('')).toBe('cert-8')
    await apply(two)
    expect(await shown('')).toBe('cert-0')
  })

  test("the installation's own stays when the server does not send it, also through a restart", async () => {
    await apply(two)
    const signIns = new Map()
    expect(
      await driver.apply({ routes: inSections(routes()), certificates: [two], signIns, settings }),
    ).toEqual([])
    process.kill(await lab.pid(), 'SIGKILL')
    expect(await driver.check()).toMatchObject({ state: 'ok' })
    expect(await shown('')).toBe('cert-0')
  })

  test('cannot smuggle a command to HAProxy', async () => {
    await apply(one)
    const command = `add map ${lab.paths.nodes} 66 down`
    for (const end of ['\0', '\n', '\n\n', '\u000b', '\r', ';'])
      for (const chain of [`${one.chain}${end}\n${command}\n`, `${end}${command}\n${one.chain}`])
        expect(await apply({ ...one, chain })).toEqual([])
    expect(await lab.command(`show map ${lab.paths.nodes}`)).toBe('\n')
    expect(await shown('one.example.com')).toBe('cert-1')
  })

  test('that cannot be used get a problem each', async () => {
    const bad: EdgeCertificate[] = [
      { ...one, id: 11, chain: 'rubbish' },
      { ...one, id: 12, privateKey: two.privateKey },
      { ...one, id: 13, privateKey: '' },
      { ...one, id: 14, chain: one.chain.repeat(40) },
    ]
    const problems = await apply(...bad, two)
    expect(problems.map(({ scope }) => scope)).toEqual(
      expect.arrayContaining([11, 12, 13, 14].map((id) => ({ kind: 'certificate', id }))),
    )
    expect(problems).toHaveLength(4)
    for (const { message } of problems) expect(message).not.toMatch(/BEGIN|undefined|\/tmp/)
    expect(await shown('two.example.com')).toBe('cert-2')
    expect(await files()).toEqual(['0.pem', '2.pem'])
  })

  test('a bad renewal leaves the previous one in use, even after a restart', async () => {
    await apply(one, two)
    const problems = await apply({ ...one, privateKey: two.privateKey }, two)
    expect(problems.map(({ scope }) => scope)).toEqual([{ kind: 'certificate', id: 1 }])
    expect(await shown('one.example.com')).toBe('cert-1')
    expect(await apply({ ...one, chain: 'rubbish' }, two)).toHaveLength(1)
    expect(await shown('one.example.com')).toBe('cert-1')
    process.kill(await lab.pid(), 'SIGKILL')
    expect((await driver.check()).state).toBe('ok')
    expect(await shown('one.example.com')).toBe('cert-1')
  })

  test('a file that is broken on disk keeps only its own names from being served', async () => {
    await apply(one, two)
    process.kill(await lab.pid(), 'SIGKILL')
    await writeFile(lab.paths.certificate(1), 'rubbish')
    expect((await driver.check()).state).toBe('ok')
    expect(await shown('two.example.com')).toBe('cert-2')
    expect(await shown('one.example.com')).toBe('cert-0')
    expect(await apply(one, two)).toEqual([])
    expect(await shown('one.example.com')).toBe('cert-1')
  })

  test('that somebody removed are added again', async () => {
    await apply(one, two)
    await lab.command(`del ssl crt-list ${lab.paths.certificateList} ${lab.paths.certificate(1)}`)
    await lab.command(`del ssl cert ${lab.paths.certificate(1)}`)
    expect(await shown('one.example.com')).toBe('cert-0')
    expect(await apply(one, two)).toEqual([])
    expect(await shown('one.example.com')).toBe('cert-1')
  })

  test("without the installation's own, HAProxy does not start, and a problem says so", async () => {
    const other = await makeHaproxyLab()
    const second = await other.open()
    await second.apply({
      routes: new Map(),
      certificates: [one],
      signIns: new Map(),
      settings,
    })
    expect(await second.check()).toEqual({
      state: 'failed',
      detail: 'HAProxy cannot start without the certificate of the installation',
    })
    await other.close()
  })

  test('visitors of all names speak HTTP/2 or 1.1, and nothing older than TLS 1.2', async () => {
    await apply(one)
    const options = { host: '127.0.0.1', port: lab.httpsPort, rejectUnauthorized: false } as const
    const alpn = await new Promise((resolve, reject) => {
      const socket = connect(
        { ...options, ALPNProtocols: ['h2', 'http/1.1'], servername: 'one.example.com' },
        () => {
          resolve(socket.alpnProtocol)
          socket.destroy()
        },
      )
      socket.on('error', reject)
    })
    expect(alpn).toBe('h2')
    const old = {
      ...options,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const
    await expect(
      new Promise((resolve, reject) => connect(old, () => resolve('connected')).on('error', reject)),
    ).rejects.toThrow()
    expect((await visit({ port: lab.httpsPort, host: 'one.example.com' })).status).toBe(200)
  })
})
