import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createSearch, type IndexEntry } from './browser/match.ts'
import { readDocs } from './library.ts'
import { outlineOf } from './outline.ts'
import { makeSearchIndex } from './search-index.ts'

const library = readDocs(fileURLToPath(new URL('../../..', import.meta.url)))
const search = createSearch(
  makeSearchIndex(
    library,
    outlineOf((name) => library.pages.has(name)),
  ),
)

/** What people ask, in their words. It is among the first three results. */
it.each([
  ['forgot password', 'common-questions#a-forgotten-password'],
  ['lost password', 'backup-and-restore#a-lost-password'],
  ['change password', 'common-questions#a-forgotten-password'],
  ['add user', 'common-questions#add-a-user'],
  ['users', 'common-questions#add-a-user'],
  ['2fa', 'common-questions#two-factor-authentication-2fa'],
  ['totp', 'common-questions#two-factor-authentication-2fa'],
  ['cloudflare', 'common-questions#cloudflare-or-another-cdn-in-front'],
  ['ufw firewall', 'common-questions#which-ports-to-open-in-a-firewall'],
  ['open ports', 'common-questions#which-ports-to-open-in-a-firewall'],
  ['how much memory', 'common-questions#how-much-memory-it-needs'],
  ['ram', 'common-questions#how-much-memory-it-needs'],
  ['metrics prometheus', 'common-questions#monitoring-and-metrics'],
  ['jellyfin', 'common-questions#jellyfin'],
  ['plex', 'common-questions#jellyfin'],
  ['nextcloud upload size', 'common-questions#nextcloud-uploads'],
  ['minecraft', 'common-questions#minecraft-and-other-games'],
  ['ssh', 'common-questions#ssh-to-a-host-at-home'],
  ['rename domain', 'common-questions#rename-a-domain'],
  ['dns challenge', 'common-questions#wildcards-and-the-dns-challenge'],
  ['wildcard certificates', 'common-questions#wildcards-and-the-dns-challenge'],
  ['lets encrypt', 'certificates#lets-encrypt'],
  ['letsencrypt', 'certificates#lets-encrypt'],
  ['https', 'certificates'],
  ['certificates', 'certificates'],
  ['trust root certificate', 'certificates#trust-the-root'],
  ['exit codes', 'cli#exit-codes'],
  ['trusted_proxies home assistant', 'behind-the-proxy#home-assistant'],
  ['cockpit', 'behind-the-proxy#cockpit'],
  ['hsts', 'behind-the-proxy#hsts'],
  ['change host header', 'behind-the-proxy#the-host-header'],
  ['verify backend certificate', 'behind-the-proxy#tls-to-the-backend'],
  ['git push hangs', 'behind-the-proxy#git-over-https'],
  ['postgres ssl', 'tcp-and-udp#which-protocols-ssl-termination-suits'],
  ['public port', 'tcp-and-udp'],
  ['docker labels', 'docker#publish-containers-by-their-labels'],
  ['POSTERN_PORT_RANGE', 'settings#postern-port-range'],
  ['backups', 'backup-and-restore'],
  ['update', 'upgrade'],
  ['uninstall', 'packages#remove'],
  ['k8s', 'kubernetes'],
  ['cli', 'cli'],
  ['sso', 'sign-in'],
  ['google login', 'sign-in#google'],
  ['ngrok', 'coming-from-another-product'],
])('%j is found at %s', (query, address) => {
  const found = search(query).map(({ href }) => href)
  expect(found.slice(0, 3)).toContain(`/docs/${address}`)
})

const entry = (title: string, text: string): IndexEntry => [`/docs/${title}`, 'Page', title, text]

it('finds a title before a text, and nothing for nothing', () => {
  const small = createSearch([entry('b', 'a port'), entry('Port', 'x'), entry('c', 'none')])
  expect(small(' PORT ').map(({ title }) => title)).toEqual(['Port', 'b'])
  expect(small('  ')).toEqual([])
  expect(small('?')).toEqual([])
})

it('knows a word by its stem, its beginning, without accents and with a slip', () => {
  const small = createSearch([entry('a', 'the Café publishes certificates'), entry('b', 'none')])
  for (const query of ['cafe', 'CAFÉ', 'publishing', 'certificate', 'certif', 'certifcates'])
    expect(
      small(query).map(({ title }) => title),
      query,
    ).toEqual(['a'])
})

it('finds what has all words before what has some', () => {
  const small = createSearch([entry('a', 'red'), entry('b', 'blue and red'), entry('c', 'green')])
  expect(small('red blue').map(({ title }) => title)).toEqual(['b'])
  expect(small('red yellow').map(({ title }) => title)).toEqual(['a', 'b'])
  expect(small('how do I do red').map(({ title }) => title)).toEqual(['a', 'b'])
})

it('finds a whole page before a part of another', () => {
  expect(search('certificate')[0]?.href).toBe('/docs/certificates')
})

it('finds each message of the troubleshooting page by its own words', () => {
  const query = 'the connection to the service timed out'
  expect(search(query)[0]?.href).toMatch(/^\/docs\/troubleshooting#/)
})

it('shows the words around what was found', () => {
  const text = `${'before '.repeat(40)}the needles ${'after '.repeat(40)}`
  const [hit] = createSearch([['/docs/x', 'X', 'x', text]])('needle')
  expect(hit?.excerpt.map((part) => part.text).join('')).toMatch(/^… before .*the needles after .* …$/)
  expect(hit?.excerpt.filter(({ isMatch }) => isMatch).map((part) => part.text)).toEqual(['needles'])
  expect(hit?.excerpt.map((part) => part.text).join('').length).toBeLessThan(160)
})
