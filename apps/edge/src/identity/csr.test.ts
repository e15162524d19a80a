import { createExec } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { createCsr, createKey } from './csr.ts'

test('OpenSSL reads the request, and its seal is of the key in it', async () => {
  for (let tries = 0; tries < 8; tries++) {
    const csr = createCsr(createKey())
    const asked = ['req', '-verify', '-noout', '-text']
    const { code, stdout, stderr } = await createExec().run('openssl', asked, { input: csr })
    expect([code, stderr]).toEqual([0, expect.stringContaining('verify OK')])
    expect(stdout).toContain('ASN1 OID: prime256v1')
    expect(stdout).toMatch(/Subject: ?\n/)
  }
})
