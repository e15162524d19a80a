import { describe, expect, it } from 'vitest'
import { connectCommandText, connectUrl, renderConnectCommand } from './connect-command.ts'

const config = { publicUrl: 'https://postern.example.com:8443', caFingerprint: 'sha256:ab12' }

describe('connectUrl', () => {
  it.each([
    ['https://postern.example.com', 'https://postern.example.com'],
    ['http://192.168.1.5:3000', 'http://192.168.1.5:3000'],
    ['http://127.0.0.1:3000', config.publicUrl],
    ['http://127.1.2.3', config.publicUrl],
    ['http://localhost:3000', config.publicUrl],
    ['http://console.localhost', config.publicUrl],
    ['http://[::1]:3000', config.publicUrl],
    ['https://127.0.0.1.example.com', 'https://127.0.0.1.example.com'],
    ['https://notlocalhost', 'https://notlocalhost'],
  ])('of a page at %s is %s', (origin, url) => {
    expect(connectUrl(origin, config)).toBe(url)
  })
})

describe('the connect command', () => {
  it('shows SECRET and copies the token, with the fingerprint of an https address', () => {
    const parts = renderConnectCommand('http://127.0.0.1:3000', config)
    expect(parts.map((part) => part.text).join('')).toBe(
      'postern connect --url=https://postern.example.com:8443 --token=SECRET --fingerprint=sha256:ab12',
    )
    expect(connectCommandText(parts, 'pst_1')).toBe(
      'postern connect --url=https://postern.example.com:8443 --token=pst_1 --fingerprint=sha256:ab12',
    )
  })

  it('pins nothing over plain http', () => {
    const parts = renderConnectCommand('http://192.168.1.5:3000', config)
    expect(connectCommandText(parts, 't')).toBe('postern connect --url=http://192.168.1.5:3000 --token=t')
  })
})
