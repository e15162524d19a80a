import { chmodSync, mkdirSync } from 'node:fs'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'

const RECORDS: Record<string, string> = {
  'here.test': '203.0.113.1',
  'dual.test': '203.0.113.1,2001:db8::1',
  'nat.test': '203.0.113.100',
  'other.test': '203.0.113.10',
  'half.test': '203.0.113.1,2001:db8::10',
  'refused.test': '203.0.113.11',
  'firewall.test': '203.0.113.12',
  'gone.test': '203.0.113.99',
  'private.test': '192.168.7.20',
}

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab, { POSTERN_DNS_SERVERS: '203.0.113.10' }))
beforeAll(async () => {
  startNameServer(lab.site)
  await putRouterInFront(lab.visitor)
  await lab.site.must('ip', 'addr', 'add', '203.0.113.11/24', 'dev', 'eth0')
  await lab.site.must('ip', 'addr', 'add', '203.0.113.12/24', 'dev', 'eth0')
  await nft(lab.site, 'add table ip wall; add chain ip wall in { type filter hook input priority 0; }')
  await nft(lab.site, 'add rule ip wall in ip daddr 203.0.113.12 tcp dport 80 drop')
  startStranger(lab.site)
  await until('the stranger to listen', async () => (await lab.site.must('ss', '-Hltn')).includes('.10:80'))
})

const nft = (host: Host, rules: string) => host.must('nft', rules)

function startNameServer(host: Host): void {
  const dir = `${installation.dataDir}/names`
  mkdirSync(dir)
  chmodSync(dir, 0o755)
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const records = Object.entries(RECORDS).map(([name, addresses]) => `--host-record=${name},${addresses}`)
  // It answers that other names of the zone do not exist.
  const zone = ['--local=/test/', '--txt-record=empty.test,no address']
  host.start(['dnsmasq', ...fixed, '--pid-file=', ...zone, ...records], { logFile: `${dir}/dnsmasq.log` })
}

/** A host that passes port 80 on to the server, as a router in front of it does. */
async function putRouterInFront(host: Host): Promise<void> {
  await host.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  await nft(
    host,
    'add table ip nat; add chain ip nat in { type nat hook prerouting priority -100; }; add chain ip nat out { type nat hook postrouting priority 100; }',
  )
  await nft(host, 'add rule ip nat in tcp dport 80 dnat to 203.0.113.1')
  await nft(host, 'add rule ip nat out masquerade')
}

function startStranger(host: Host): void {
  const listen = "require('http').createServer((q,r)=>r.end(q.url)).listen(80,'203.0.113.10')"
  host.start([process.execPath, '-e', listen], { logFile: `${installation.dataDir}/stranger.log` })
}

/** @returns the text below the field, or `saved` */
async function save(domain: string): Promise<string> {
  const { status, json } = await installation.api.call('POST', '/api/domains', { domain })
  // The shape of every refusal.
  const { errors } = json as { errors?: { field: string; message: string }[] }
  return status === 201 ? 'saved' : (errors?.map(({ field, message }) => `${field}: ${message}`).join() ?? '')
}

test.each(['here.test', 'dual.test', 'nat.test'])('%s leads here', async (domain) => {
  expect(await save(domain)).toBe('saved')
})

test.each([
  ['nowhere.test', 'has no DNS record. Point it to 203.0.113.1.'],
  ['empty.test', 'has no address in DNS. Add an A or AAAA record that points to 203.0.113.1.'],
  ['private.test', 'points to 192.168.7.20 (A), a private address that visitors cannot reach.'],
  ['other.test', 'points to 203.0.113.10 (A), where another server answers. Point it to 203.0.113.1.'],
  [
    'half.test',
    'also points to 2001:db8::10 (AAAA), which refuses connections on port 80. Remove this record.',
  ],
  [
    'refused.test',
    'points to 203.0.113.11 (A), which refuses connections on port 80. Point it to 203.0.113.1.',
  ],
  ['firewall.test', 'points to 203.0.113.12 (A), which does not answer on port 80. Point it to 203.0.113.1.'],
  ['gone.test', 'points to 203.0.113.99 (A), which this server cannot reach. Point it to 203.0.113.1.'],
  ['elsewhere.example', 'could not be looked up: the name servers answered with REFUSED.'],
])('%s does not, and the form says why', async (domain, words) => {
  expect(await save(domain)).toContain(`domain: ${domain} ${words}`)
})
