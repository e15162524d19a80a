import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { issueLeaf, issueRoot } from './issue.ts'

const NOW = new Date('2026-11-21T10:00:00.500Z')
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

describe('a root', () => {
  it('is an authority for ten years that may sign only leaf certificates', async () => {
    const root = await issueRoot('Postern Root 1', NOW)
    const parsed = new X509Certificate(root.certificate)
    expect(parsed.ca).toBe(true)
    expect(parsed.verify(parsed.publicKey)).toBe(true)
    expect(parsed.validToDate.getTime()).toBe(root.notAfter.getTime())
    expect((root.notAfter.getTime() - root.notBefore.getTime()) / 86_400_000).toBe(3650)
    expect(root.fingerprint).toBe(parsed.fingerprint256.replaceAll(':', '').toLowerCase())
  })
})

describe('a leaf', () => {
  it('is served for its names and addresses and trusted through its root by a real TLS client', async () => {
    const root = await issueRoot('Postern Root 2', new Date())
    const leaf = await issueLeaf(root, ['127.0.0.1', '::1', 'app.example.com'], new Date())
    const server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (socket) => socket.end())
    server.listen(0, '127.0.0.1')
    closers.push(() => server.close())
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    for (const host of ['127.0.0.1', 'app.example.com']) {
      const servername = host === '127.0.0.1' ? undefined : host
      const socket = connect({ host: '127.0.0.1', port, ca: root.certificate, servername })
      await once(socket, 'secureConnect')
      expect(socket.authorized).toBe(true)
      socket.destroy()
    }
    const stranger = connect({ host: '127.0.0.1', port, ca: root.certificate, servername: 'evil.example' })
    const [error] = await once(stranger, 'error')
    expect(String(error)).toContain('evil.example')
  })

  it('is valid for at most 397 days and never longer than its root', async () => {
    const root = await issueRoot('Postern Root 3', NOW)
    const leaf = await issueLeaf(root, ['a.example.com'], NOW)
    expect((leaf.notAfter.getTime() - leaf.notBefore.getTime()) / 86_400_000).toBe(397)
    const late = await issueLeaf(root, ['a.example.com'], new Date(root.notAfter.getTime() - 86_400_000))
    expect(late.notAfter.getTime()).toBe(root.notAfter.getTime())
  })

  it('can have a name longer than a common name may be', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`
    const root = await issueRoot('Postern Root 4', NOW)
    const leaf = new X509Certificate((await issueLeaf(root, [long], NOW)).certificate)
    expect(leaf.checkHost(long)).toBe(long)
    expect(leaf.ca).toBe(false)
  })

  it('cannot be made without a name', async () => {
    const root = await issueRoot('Postern Root 5', NOW)
    await expect(issueLeaf(root, [], NOW)).rejects.toThrow(TypeError)
  })
})
