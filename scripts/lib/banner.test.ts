import { parseSettings } from '@postern/contract/settings/settings'
import { expect, test } from 'vitest'
import { consoleHere, renderBanner, renderDataPlane } from './banner.ts'

const banner = {
  version: '1.2.3',
  publicUrl: 'https://203.0.113.1',
  here: { console: consoleHere(parseSettings({}), true), dataDir: '/var/lib/postern' },
}

test('it shows both addresses, and no password when none was made', () => {
  const text = renderBanner(banner)
  expect(text).toContain('https://203.0.113.1/')
  expect(text).toContain('http://127.0.0.1:3000/')
  expect(text).not.toContain('Password')
})

test("a port that another program holds is no way in: the console's socket is named instead", () => {
  const settings = parseSettings({ POSTERN_DATA_DIR: '/var/lib/postern' })
  const here = { ...banner.here, console: consoleHere(settings, false) }
  const text = renderBanner({ ...banner, here })
  expect(text).toContain('/var/lib/postern/server/console.sock (port 3000 is taken by another program)')
  expect(text).not.toContain('127.0.0.1')
})

test('in a container it shows only what can be opened from outside', () => {
  const text = renderBanner({ ...banner, here: undefined })
  expect(text).toContain('https://203.0.113.1/')
  expect(text).not.toMatch(/127\.0\.0\.1|Data/)
})

test('a generated password is shown with its account', () => {
  const text = renderBanner({ ...banner, generatedAdmin: { username: 'admin', password: 'xyzzy' } })
  expect(text).toMatch(/Username +admin\n +Password +xyzzy/)
})

test('the server cannot control the terminal of the person who starts it', () => {
  const text = renderBanner({ ...banner, generatedAdmin: { username: 'a\u001b[2J', password: 'x\u009bm' } })
  expect(text).toMatch(/Username +a \[2J\n +Password +x m /)
})

test('without an edge it shows only the address that works, and what is missing', () => {
  const text = renderBanner({ ...banner, obstacle: 'it needs root' })
  expect(text).not.toContain('203.0.113.1')
  expect(text).toContain('not running: it needs root')
})

test('a data plane whose state is unknown has not failed', () => {
  const text = renderDataPlane(null)
  expect(text).toMatch(/^ +Data plane +still waiting for the server; the console shows when it runs\n$/)
})

test('a missing part is not hidden behind the others', () => {
  const ok = { state: 'ok', detail: 'HAProxy 2.6.12' } as const
  expect(renderDataPlane({ haproxy: ok, wireguard: ok, nftables: ok })).toContain('HAProxy 2.6.12, HAProxy')
  const text = renderDataPlane({
    haproxy: ok,
    wireguard: { state: 'missing', detail: 'wg is not installed' },
    nftables: ok,
  })
  expect(text).toContain('wireguard MISSING: wg is not installed')
})
