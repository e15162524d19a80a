import { describe, expect, it } from 'vitest'
import { closedPortsOf, isServicePort, parseEdgeSettings, parseSettings, SettingsError } from './settings.ts'

describe('settings', () => {
  it('have a default each, and an empty variable counts as absent', () => {
    const settings = parseSettings({ PATH: '/bin', POSTERN_HTTPS_PORT: '' })
    expect(settings).toMatchObject({
      POSTERN_DATA_DIR: '/var/lib/postern',
      POSTERN_HTTPS_PORT: 443,
      POSTERN_TUNNEL_NETWORK: '10.64.0.0/16',
      POSTERN_PORT_RANGE: { from: 32660, to: 32760 },
      POSTERN_PUBLIC_HOST: null,
    })
  })

  it('are read', () => {
    const settings = parseSettings({
      POSTERN_TUNNEL_NETWORK: '172.20.9.1/16',
      POSTERN_PORT_RANGE: '40000-40010',
      POSTERN_PUBLIC_HOST: '2001:db8::1',
      POSTERN_DNS_SERVERS: '192.0.2.53, 192.0.2.54:5353,2001:db8::53,[::1]:5353',
    })
    expect(settings).toMatchObject({
      POSTERN_TUNNEL_NETWORK: '172.20.0.0/16',
      POSTERN_PORT_RANGE: { from: 40000, to: 40010 },
      POSTERN_PUBLIC_HOST: '2001:db8::1',
      POSTERN_DNS_SERVERS: ['192.0.2.53', '192.0.2.54:5353', '2001:db8::53', '[::1]:5353'],
    })
  })

  it.each([
    ['POSTERN_HTTPS_PORT', '70000'],
    ['POSTERN_HTTP_PORT', '80x'],
    ['POSTERN_DATA_DIR', 'relative'],
    ['POSTERN_DATA_DIR', '/a b'],
    ['POSTERN_PUBLIC_HOST', 'http://x'],
    ['POSTERN_PUBLIC_HOST', 'a b.example.com'],
    ['POSTERN_DNS_SERVERS', 'dns.example.com'],
    ['POSTERN_DNS_SERVERS', '192.0.2.53:70000'],
    ['POSTERN_DNS_SERVERS', '192.0.2.53,'],
    ['POSTERN_TUNNEL_NETWORK', '10.0.0.0/8'],
    ['POSTERN_TUNNEL_NETWORK', '8.8.0.0/16'],
    ['POSTERN_TUNNEL_INTERFACE', 'wg0; reboot'],
    ['POSTERN_PORT_RANGE', '10-5'],
    ['POSTERN_BACKUP_DIR', 'backups'],
    ['POSTERN_BACKUP_KEEP', '0'],
    ['POSTERN_BACKUP_KEEP', '366'],
    ['POSTERN_ADMIN_PASSWORD', 'short'],
    ['POSTERN_LOG_LEVEL', 'loud'],
    ['POSTERN_CONTACT_URL', 'javascript:alert(1)'],
    ['POSTERN_ACME_DIRECTORY', 'http://ca.example.com/directory'],
    ['POSTERN_ACME_CA_FILE', 'ca.pem'],
    ['POSTERN_ACME_EMAIL', 'a@b, c@d'],
    ['POSTERN_ACME_EAB_HMAC', 'not base64 url'],
    ['POSTERN_ACME_EAB_KID', 'alone'],
    ['POSTERN_ACME_PROFILE', 'a b'],
    ['POSTERN_OIDC_ISSUER', 'facebook'],
    ['POSTERN_OIDC_ISSUER', 'constructor'],
    ['POSTERN_OIDC_ISSUER', '__proto__'],
    ['POSTERN_OIDC_ISSUER', 'http://id.example.com'],
    ['POSTERN_OIDC_ISSUER', 'https://id.example.com/?tenant=1'],
    ['POSTERN_OIDC_ISSUER', 'https://user:word@id.example.com'],
    ['POSTERN_OIDC_ISSUER', 'github:git.example.com'],
    ['POSTERN_OIDC_ISSUER', 'github:https://git.example.com/login'],
    ['POSTERN_METRICS_ADDRESS', '127.0.0.1:9464'],
    ['POSTERN_METRICS_TOKEN', 'short'],
    ['POSTERN_METRICS_TOKEN_FILE', 'metrics-token'],
    ['POSTERN_OTLP_ENDPOINT', 'collector:4318'],
    ['POSTERN_OTLP_ENDPOINT', 'http://user:word@collector:4318'],
    ['POSTERN_OTLP_HEADERS', 'authorization=alone'],
    ['POSTERN_CONTROL_LISTEN', '8443'],
    ['POSTERN_CONTROL_LISTEN', 'postern.example.com:8443'],
    ['POSTERN_CONTROL_LISTEN', '::1:8443'],
    ['POSTERN_CONTROL_LISTEN', '0.0.0.0:443'],
    ['POSTERN_CONTROL_HOST', 'postern.example.com'],
    ['POSTERN_TYPO', '1'],
  ])('%s=%s is refused in one line that names it', (key, value) => {
    expect(() => parseSettings({ [key]: value })).toThrow(SettingsError)
    expect(() => parseSettings({ [key]: value })).toThrow(new RegExp(`^${key} [^\\n]+$`))
  })

  it('of an edge are its own only, though half of what belongs together is missing', () => {
    const given = { POSTERN_HTTPS_PORT: '8443', POSTERN_OIDC_ISSUER: 'google', POSTERN_ACME_EAB_KID: 'x' }
    expect(parseEdgeSettings(given)).toMatchObject({ POSTERN_HTTPS_PORT: 8443, POSTERN_OIDC_ISSUER: null })
    expect(() => parseEdgeSettings({ POSTERN_TYPO: '1' })).toThrow(/^POSTERN_TYPO is not a setting/)
    expect(() => parseEdgeSettings({ POSTERN_HTTPS_PORT: '0' })).toThrow(/^POSTERN_HTTPS_PORT must be/)
  })

  it('say which ports services may have, and which no backend may have', () => {
    const settings = parseSettings({ POSTERN_PORT_RANGE: '440-444' })
    expect([439, 440, 443, 444, 445].map((port) => isServicePort(settings, port))).toEqual([
      ...[false, true, false, true, false],
    ])
    expect(closedPortsOf(settings).sort((a, b) => a - b)).toEqual([
      ...[80, 440, 441, 442, 443, 443, 444, 3000, 51_820],
    ])
  })
})
