import { readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { connect, getCiphers, type SecureVersion, type TLSSocket } from 'node:tls'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeHaproxyLab } from '../../../../test/haproxy-lab.ts'

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  await lab.apply([])
})

interface Handshake {
  cipher: string
  isResumed: boolean
  hasTicket: boolean
  session: Buffer | undefined
}

/** @returns undefined when the other end refuses */
function shakeHands(version: SecureVersion, more: { ciphers?: string; session?: Buffer } = {}) {
  return new Promise<Handshake | undefined>((resolve) => {
    const options = { minVersion: version, maxVersion: version, rejectUnauthorized: false, ...more }
    const socket: TLSSocket = connect({ port: lab.httpsPort, host: '127.0.0.1', ...options })
    socket.setTimeout(20_000, () => socket.destroy())
    let session: Buffer | undefined
    socket.on('session', (given: Buffer) => {
      session = given
    })
    // TLS 1.3 gives its session after the handshake, together with the first answer.
    socket.on('secureConnect', () =>
      socket.write('GET / HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n\r\n'),
    )
    socket.on('error', () => resolve(undefined))
    socket.resume().on('end', () => {
      const { name } = socket.getCipher()
      resolve({
        cipher: name,
        isResumed: socket.isSessionReused(),
        hasTicket: !!socket.getTLSTicket(),
        session,
      })
      socket.destroy()
    })
  })
}

describe('TLS', () => {
  test('1.2 takes suites that also authenticate, and no others', async () => {
    const taken: string[] = []
    for (const name of getCiphers().filter((each) => !each.startsWith('tls_'))) {
      const shaken = await shakeHands('TLSv1.2', { ciphers: `${name.toUpperCase()}:@SECLEVEL=0` })
      if (shaken) taken.push(shaken.cipher)
    }
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.filter((name) => !/GCM|POLY1305/.test(name))).toEqual([])
  })

  test('1.3 works, and nothing older than 1.2', async () => {
    expect((await shakeHands('TLSv1.3'))?.cipher).toMatch(/GCM|POLY1305/)
    expect(await shakeHands('TLSv1.1', { ciphers: 'ALL:@SECLEVEL=0' })).toBe(undefined)
  })

  test.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
    '%s resumes sessions without a lasting key',
    async (version) => {
      const first = await shakeHands(version)
      expect(first?.isResumed).toBe(false)
      const session = first?.session
      if (!session) throw new Error('no session was given')
      expect((await shakeHands(version, { session }))?.isResumed).toBe(true)
      // A ticket that the visitor keeps holds the session itself; a name of one that HAProxy keeps is short.
      if (version === 'TLSv1.2') expect(first?.hasTicket).toBe(false)
    },
  )
})

test('HAProxy sees nothing of the machine but the sockets that it needs', async () => {
  expect(await readlink(`/proc/${await lab.pid()}/root`)).toBe(dirname(lab.serverSocket))
})
