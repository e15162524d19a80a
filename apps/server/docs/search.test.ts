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

/** Questions in people's words. The page must be among the first three results. */
it.each([
  ['forgot password', 'accounts#a-forgotten-password'],
  ['lost password', 'accounts#a-forgotten-password'],
  ['change password', 'accounts#change-the-password'],
  ['session', 'accounts#sessions'],
  ['add user', 'common-questions#add-a-user'],
  ['users', 'common-questions#add-a-user'],
  ['2fa', 'accounts#two-factor-authentication-2fa'],
  ['totp', 'second-factors'],
  ['passkey', 'second-factors#passkeys'],
  ['lost phone', 'second-factors#when-they-are-lost'],
  ['cloudflare', 'network/cloudflare'],
  ['cloudflare visitor ip', 'network/cloudflare#what-the-proxy-changes'],
  ['always use https', 'network/cloudflare#proxied'],
  ['ufw', 'network/firewalls#ufw-on-the-server'],
  ['ufw firewall', 'network/firewalls#ufw-on-the-server'],
  ['firewall', 'network/firewalls'],
  ['security group', 'network/firewalls#at-a-hosting-provider'],
  ['open ports', 'network/firewalls#which-ports-to-open'],
  ['port forwarding router', 'network/home-router#forward-the-ports'],
  ['cgnat', 'network/home-router#does-your-line-have-an-address-of-its-own'],
  ['hairpin nat', 'network/home-router#from-inside-your-home'],
  ['dyndns', 'network/home-router#dynamic-dns-for-an-address-that-changes'],
  ['dns', 'network/dns'],
  ['dns record', 'network/dns#2-make-the-records'],
  ['caa', 'network/dns#3-allow-the-certificate-authority'],
  ['how it works', 'how-it-works'],
  ['architecture', 'how-it-works'],
  ['api', 'api'],
  ['api token', 'programs'],
  ['token for a script', 'programs'],
  ['openapi', 'api#reference'],
  ['api domains ending', 'api#get-api-domains-ending'],
  ['curl example', 'api#an-example'],
  ['how much memory', 'common-questions#how-much-memory-it-needs'],
  ['ram', 'common-questions#how-much-memory-it-needs'],
  ['metrics prometheus', 'monitoring#prometheus'],
  ['jellyfin', 'recipes/jellyfin'],
  ['plex', 'recipes/jellyfin#plex-and-emby'],
  ['nextcloud', 'recipes/nextcloud'],
  ['nextcloud upload size', 'recipes/nextcloud#large-uploads'],
  ['upload large file', 'recipes/nextcloud#large-uploads'],
  ['413', 'recipes/nextcloud#large-uploads'],
  ['immich', 'recipes/immich'],
  ['photos', 'recipes/immich'],
  ['home assistant', 'recipes/home-assistant'],
  ['home assistant add-on', 'home-assistant'],
  ['minecraft', 'recipes/game-server#minecraft-java-edition'],
  ['bedrock', 'recipes/game-server#minecraft-bedrock-edition'],
  ['game', 'recipes/game-server'],
  ['ssh', 'recipes/ssh'],
  ['fail2ban', 'recipes/ssh#on-the-host'],
  ['websocket', 'behind-the-proxy#websockets-uploads-and-timeouts'],
  ['timeout', 'behind-the-proxy#websockets-uploads-and-timeouts'],
  ['allowed ips', 'network/ip-lists'],
  ['ip list', 'network/ip-lists'],
  ['whitelist', 'network/ip-lists'],
  ['rename domain', 'common-questions#rename-a-domain'],
  ['dns challenge', 'common-questions#wildcards-and-the-dns-challenge'],
  ['wildcard certificates', 'common-questions#wildcards-and-the-dns-challenge'],
  ['lets encrypt', 'certificates#lets-encrypt'],
  ['letsencrypt', 'certificates#lets-encrypt'],
  ['https', 'certificates'],
  ['certificates', 'certificates'],
  ['trust root certificate', 'certificates#trust-the-root'],
  ['exit codes', 'cli#exit-codes'],
  ['trusted_proxies home assistant', 'recipes/home-assistant#in-home-assistant'],
  ['cockpit', 'behind-the-proxy#cockpit'],
  ['hsts', 'behind-the-proxy#hsts'],
  ['change host header', 'behind-the-proxy#the-host-header'],
  ['verify backend certificate', 'behind-the-proxy#tls-to-the-backend'],
  ['git', 'recipes/git'],
  ['gitea ssh port', 'recipes/git#in-forgejo-or-gitea'],
  ['git push hangs', 'recipes/git#what-does-not-work'],
  ['postgres', 'recipes/database'],
  ['database', 'recipes/database'],
  ['mysql', 'recipes/database#what-does-not-work'],
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

it('matches a word by its stem or beginning, without accents and with a typo', () => {
  const small = createSearch([entry('a', 'the Café publishes certificates'), entry('b', 'none')])
  for (const query of ['cafe', 'CAFÉ', 'publishing', 'certificate', 'certif', 'certifcates'])
    expect(
      small(query).map(({ title }) => title),
      query,
    ).toEqual(['a'])
})

it('ranks sections with all words before those with some', () => {
  const small = createSearch([entry('a', 'red'), entry('b', 'blue and red'), entry('c', 'green')])
  expect(small('red blue').map(({ title }) => title)).toEqual(['b'])
  expect(small('red yellow').map(({ title }) => title)).toEqual(['a', 'b'])
  expect(small('how do I do red').map(({ title }) => title)).toEqual(['a', 'b'])
})

it('finds a whole page before a part of another', () => {
  expect(search('certificate')[0]?.href).toBe('/docs/certificates')
})

it.each(['udp', 'firewall', 'docker', 'backup', 'public port', 'connection refused'])(
  'finds guides about “%s” before the messages about it',
  (query) => {
    const pages = search(query).map(({ page }) => page)
    expect(pages.slice(0, 2)).not.toContain('Troubleshooting')
  },
)

it('finds each message of the troubleshooting page by its words', () => {
  const query = 'the connection to the service timed out'
  expect(search(query)[0]?.href).toMatch(/^\/docs\/troubleshooting#/)
})

it('shows the words around the match', () => {
  const text = `${'before '.repeat(40)}the needles ${'after '.repeat(40)}`
  const [hit] = createSearch([['/docs/x', 'X', 'x', text]])('needle')
  expect(hit?.excerpt.map((part) => part.text).join('')).toMatch(/^… before .*the needles after .* …$/)
  expect(hit?.excerpt.filter(({ isMatch }) => isMatch).map((part) => part.text)).toEqual(['needles'])
  expect(hit?.excerpt.map((part) => part.text).join('').length).toBeLessThan(160)
})
