import { describe, expect, test } from 'vitest'
import { renderHaproxyConfig, renderHaproxyFiles } from './config.ts'
import { type HaproxyOptions, RenderError } from './options.ts'
import { pageNames, renderPage } from './pages.ts'

const options: HaproxyOptions = {
  directory: '/var/lib/postern/edge/haproxy',
  serverSocket: '/var/lib/postern/run/server.sock',
  lanes: '/var/lib/postern/lanes',
  root: '/var/lib/postern',
  addresses: ['0.0.0.0', '::'],
  httpPort: 80,
  httpsPort: 443,
  publicHost: 'gate.example.com',
  formerHosts: [],
  user: { uid: 990, gid: 991 },
  maxConnections: 9500,
  ports: [{ from: 32660, to: 32760 }],
  portConnections: 1000,
  tlsPortConnections: 500,
  connectionsPerSource: 500,
  logPort: 601,
  logSecret: '0123456789abcdef0123456789abcdef',
  logQuery: false,
  connectTimeout: 5,
  timeouts: { head: 10, body: 60, reader: 120, idle: 3600 },
  tunnelTimeout: 3600,
  threads: 1,
}
const config = (changes: Partial<HaproxyOptions> = {}) =>
  renderHaproxyConfig({ ...options, ...changes }, 'mark')

describe('the configuration', () => {
  test('binds IPv4 and IPv6 apart, and never shares a port', () => {
    expect(config()).toMatch(/^ {2}bind 0\.0\.0\.0:80$/m)
    expect(config()).toMatch(/^ {2}bind \[::\]:443 v6only ssl /m)
    expect(config()).not.toContain('v4v6')
    expect(config()).toMatch(/^ {2}noreuseport$/m)
  })

  test('names the port in redirects only when it must be named', () => {
    expect(config()).toContain('location https://%[var(txn.host)]%[pathq]')
    expect(config({ httpsPort: 8443 })).toContain('location https://%[var(txn.host)]:8443%[pathq]')
  })

  test('takes nothing from the middle of a text by its length, as releases differ in that', () => {
    expect(config()).not.toMatch(/bytes\((?!0,)/)
  })

  // HAProxy refuses to start with more; a blank in quotes counts here as well.
  test('has no rule of more than 64 words', () => {
    const rules = config({ publicHost: '2001:db8::1', httpsPort: 8443 }).split('\n')
    expect(rules.filter((rule) => rule.trim().split(/\s+/).length > 64)).toEqual([])
  })

  // From 3.2 on HAProxy may wait after 50 rules (`tune.max-rules-at-once`), while another request of the connection comes by.
  test('uses what it keeps for a connection in its first 50 rules', () => {
    const [, https = ''] = config().split(/^frontend https$/m)
    const rules = https.split(/^(?:frontend|backend) /m, 1)[0]?.match(/^ {2}http-request .*$/gm) ?? []
    const last = rules.findLastIndex((rule) => /sess\.(host|site|said)/.test(rule))
    expect(last).toBeGreaterThan(0)
    expect(last).toBeLessThan(50)
  })

  test('drops its rights where there are some to drop', () => {
    expect(config()).toContain('  uid 990\n  gid 991\n')
    expect(config({ user: null })).not.toMatch(/uid|gid/)
  })

  test.each<[string, Partial<HaproxyOptions>]>([
    ['a directory with a blank', { directory: '/var/lib/a b' }],
    ['a directory with a newline', { directory: '/var/lib/a\n  chroot /' }],
    ['a socket with a quote', { serverSocket: '/run/"' }],
    ['a secret with a field of its own', { logSecret: '0123|' }],
    ['an address that is none', { addresses: ['localhost'] }],
    ['no address', { addresses: [] }],
    ['a host with a rule', { publicHost: 'a.example.com }\n  http-request deny' }],
  ])('refuses %s', (_, changes) => {
    expect(() => config(changes)).toThrow(RenderError)
  })

  test('bears the mark of all the files it needs', () => {
    const marks = (changes: Partial<HaproxyOptions>) => {
      const seen: string[] = []
      const { mark, config: text } = renderHaproxyFiles({ ...options, ...changes }, (content) => {
        seen.push(content)
        return String(content.length)
      })
      expect(text).toContain(`  description ${mark}\n`)
      expect(seen[0]).toContain('ip_verdict')
      expect(seen[0]).toContain('Nothing is published here')
      return mark
    }
    expect(marks({})).toBe(marks({}))
    expect(marks({})).not.toBe(marks({ httpPort: 8080 }))
  })
})

describe('a page of our own', () => {
  test.each(pageNames)('%s holds all it needs', (name) => {
    const whole = renderPage(name, { publicHost: 'postern.example.com', httpsPort: 8443 })
    const page = whole.replace(/<a href="https:\/\/postern\.example\.com:8443\/why" [^>]*>[^<]*<\/a>/, '')
    expect(page).toContain('prefers-color-scheme:dark')
    expect(page).not.toMatch(/<script|<img|<link|url\(|https?:/)
    // HAProxy holds an answer and its headers in one buffer of 16 kB.
    expect(page.length).toBeLessThan(4000)
  })
})
