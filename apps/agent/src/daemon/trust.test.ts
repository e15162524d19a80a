import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { createExec } from '@postern/host/processes/exec'
import { createTrust } from '@postern/host/trust'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { followRoots } from './roots.ts'
import { createServerClient } from './server-client.ts'
import { openServerSocket } from './server-socket.ts'
import { fetchAuthority, findNewerRoots } from './trust.ts'

const directory = tempDir()
const exec = createExec()
const read = (name: string) => readFileSync(`${directory}/${name}`, 'utf8')
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

async function openssl(...args: string[]): Promise<void> {
  const { code, stderr } = await exec.run('openssl', args)
  if (code !== 0) throw new Error(stderr)
}

/** Two authorities with the same name; only the first matches the fingerprint. */
async function makeAuthority(name: string): Promise<void> {
  const to = ['-keyout', `${directory}/${name}.key`, '-out', `${directory}/${name}.crt`]
  await openssl('req', '-x509', ...NEW_KEY, ...to, '-days', '2', '-subj', '/CN=Postern CA')
}

async function makeLeaf(name: string, authority: string, days: string, alternative = 'IP:127.0.0.1') {
  const [key, csr, out] = ['key', 'csr', 'crt'].map((end) => `${directory}/${name}.${end}`)
  await openssl('req', ...NEW_KEY, '-keyout', `${key}`, '-out', `${csr}`, '-subj', '/CN=leaf')
  writeFileSync(`${directory}/${name}.ext`, `subjectAltName=${alternative}\nbasicConstraints=CA:FALSE\n`)
  const signer = ['-CA', `${directory}/${authority}.crt`, '-CAkey', `${directory}/${authority}.key`]
  const rest = ['-CAcreateserial', '-days', days, '-extfile', `${directory}/${name}.ext`, '-out', `${out}`]
  await openssl('x509', '-req', '-in', `${csr}`, ...signer, ...rest)
}

let server: Server | undefined
let heard: string[] = []

beforeAll(async () => {
  await Promise.all([makeAuthority('ours'), makeAuthority('other')])
  await makeLeaf('good', 'ours', '2')
  await makeLeaf('foreign', 'other', '2')
  await makeLeaf('expired', 'ours', '-1')
  await makeLeaf('misnamed', 'ours', '2', 'DNS:postern.example')
})
afterEach(() => server?.close())

/** Answers every request with the authority that it claims to belong to. */
function serve(leaf: string, authority = 'ours', roots = [authority]): Promise<URL> {
  heard = []
  const chain = read(`${leaf}.crt`) + read(`${authority}.crt`)
  const listening = createServer({ key: read(`${leaf}.key`), cert: chain }, (request, response) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
    response.end(roots.map((root) => read(`${root}.crt`)).join(''))
  })
  listening.on('upgrade', (request, socket) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
    socket.destroy()
  })
  server = listening
  return new Promise((resolve) => {
    listening.listen(0, '127.0.0.1', () => {
      const address = listening.address()
      const port = typeof address === 'object' ? address?.port : address
      resolve(new URL(`https://127.0.0.1:${port}`))
    })
  })
}

const fingerprint = () =>
  `sha256:${new X509Certificate(read('ours.crt')).fingerprint256.replaceAll(':', '').toLowerCase()}`

const ask = (url: URL) =>
  createServerClient({ url, token: 'secret', trust: createTrust(read('ours.crt')) }).getConfig()

test('a leaf of the pinned authority is trusted', async () => {
  const url = await serve('good')
  expect(await fetchAuthority(url, fingerprint())).toContain('BEGIN CERTIFICATE')
  await expect(ask(url)).rejects.toThrow('does not answer like a Postern server')
  expect(heard).toEqual(['/install/ca.crt', '/api/agent/config Bearer secret'])
})

test('an authority with the same name is not the pinned one', async () => {
  const url = await serve('foreign', 'other')
  await expect(fetchAuthority(url, fingerprint())).rejects.toThrow('another certificate authority')
})

test('of two roots that a server shows, the one with the fingerprint is trusted, in either order', async () => {
  for (const roots of [
    ['ours', 'other'],
    ['other', 'ours'],
  ]) {
    const url = await serve('good', 'ours', roots)
    expect(await fetchAuthority(url, fingerprint())).toBe(read('ours.crt'))
    server?.close()
  }
})

test('a renewed root is learned from a server that the old one verifies, and trusted from then on', async () => {
  const ours = read('ours.crt')
  expect(await findNewerRoots(await serve('good'), ours)).toBeUndefined()
  server?.close()
  const roots = await findNewerRoots(await serve('good', 'ours', ['ours', 'other']), ours)
  server?.close()
  expect(roots).toBe(ours + read('other.crt'))
  const renewed = await serve('foreign', 'other', ['other'])
  const client = createServerClient({ url: renewed, token: 'secret', trust: createTrust(roots ?? '') })
  await expect(client.getConfig()).rejects.toThrow('does not answer like a Postern server')
  // A learned root is not learned again, and one that is no longer shown is dropped, because its key may have leaked.
  expect(await findNewerRoots(renewed, roots ?? '')).toBe(read('other.crt'))
  expect(await findNewerRoots(renewed, read('other.crt'))).toBeUndefined()
})

test('a root of another name is not learned: no later look would drop it', async () => {
  const to = ['-keyout', `${directory}/evil.key`, '-out', `${directory}/evil.crt`]
  await openssl('req', '-x509', ...NEW_KEY, ...to, '-days', '2', '-subj', '/CN=Evil')
  const ours = read('ours.crt')
  expect(await findNewerRoots(await serve('good', 'ours', ['ours', 'evil']), ours)).toBeUndefined()
  server?.close()
  const both = await findNewerRoots(await serve('good', 'ours', ['evil', 'ours', 'other']), ours)
  expect(both).toBe(ours + read('other.crt'))
})

test('an authority with another name that the person also gave stays', async () => {
  const company = '/CN=Company'
  const to = ['-keyout', `${directory}/company.key`, '-out', `${directory}/company.crt`]
  await openssl('req', '-x509', ...NEW_KEY, ...to, '-days', '2', '-subj', company)
  const held = read('company.crt') + read('ours.crt')
  const url = await serve('good', 'ours', ['ours', 'other'])
  expect(await findNewerRoots(url, held)).toBe(held + read('other.crt'))
})

test('a running agent stores a learned root, and uses it without a restart', async () => {
  const url = await serve('good', 'ours', ['ours', 'other'])
  const ours = read('ours.crt')
  const access = { url, token: 'secret', trust: createTrust(ours) }
  const saved: string[] = []
  const save = async (ca: string) => void saved.push(ca)
  const roots = followRoots(access, ours, { save, log: () => undefined })
  await roots.look()
  await roots.look()
  roots.stop()
  expect(saved).toEqual([ours + read('other.crt')])
  server?.close()
  access.url = await serve('foreign', 'other')
  await expect(createServerClient(access).getConfig()).rejects.toThrow('does not answer like a Postern')
  expect(heard).toEqual(['/api/agent/config Bearer secret'])
})

test('an untrusted server cannot teach a root, and an authority from a file is never replaced', async () => {
  const stranger = await serve('foreign', 'other', ['ours', 'other'])
  await expect(findNewerRoots(stranger, read('ours.crt'))).rejects.toThrow('Cannot reach the server')
  server?.close()
  const behindCompany = await serve('good', 'ours', ['other'])
  expect(await findNewerRoots(behindCompany, read('ours.crt'))).toBeUndefined()
})

test.each([
  ['foreign', 'not signed by an authority'],
  ['expired', 'has expired'],
  ['misnamed', 'is for another name'],
])('a server that shows the pinned authority with a %s leaf does not get the token', async (leaf, why) => {
  const url = await serve(leaf)
  // The authority itself is public: anybody in between can show it.
  const ca = await fetchAuthority(url, fingerprint())
  heard = []
  await expect(ask(url)).rejects.toThrow(why)
  const errors = await new Promise<number>((resolve) => {
    let attempts = 0
    const access = { url, token: 'secret', trust: createTrust(ca) }
    const socket = openServerSocket(access, {
      onHint: () => undefined,
      random() {
        attempts++
        socket.close()
        resolve(attempts)
        return 0
      },
    })
  })
  expect(errors).toBe(1)
  expect(heard).toEqual([])
})

test('a pinned authority is the only one: those of the system do not count', async () => {
  const url = await serve('foreign')
  const bundle = [`${directory}/other.crt`]
  const client = (ca: string | null) =>
    createServerClient({ url, token: 'secret', trust: createTrust(ca, bundle) }).getConfig()
  await expect(client(null)).rejects.toThrow('does not answer like a Postern server')
  await expect(client(read('ours.crt'))).rejects.toThrow('not signed by an authority')
})
