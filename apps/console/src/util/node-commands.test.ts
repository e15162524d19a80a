import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import {
  connectCommandText,
  connectUrl,
  installCommand,
  renderComposeLines,
  renderConnectCommand,
  renderShortConnectCommand,
} from './node-commands.ts'

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

describe('the lines for Docker', () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '172.29.8.0/24' }]
  const render = (origin: string) => renderComposeLines(origin, config, { token: 'ptn_1', gatewayNetworks })

  it('are those at the top of the compose file', () => {
    const file = readFileSync(
      new URL('../../../../deploy/docker/gateway.compose.yaml', import.meta.url),
      'utf8',
    )
    const namesOf = (text: string) => text.match(/^x-[a-z]+: &[a-z]+ /gm)
    expect(namesOf(render('https://postern.example.com'))).toEqual(namesOf(file))
  })

  it('name the server, the token, the fingerprint and the network', () => {
    expect(render('https://postern.example.com').split('\n')).toEqual([
      'x-url: &url https://postern.example.com',
      'x-token: &token ptn_1',
      'x-fingerprint: &fingerprint sha256:ab12',
      'x-network: &network 172.29.8.0/24',
    ])
    expect(render('http://192.168.1.5:3000')).toContain("x-fingerprint: &fingerprint ''")
  })
})

const PLAIN = { isGateway: false, gatewayNetworks: null, allowInternet: false, dns: null }

describe('the connect command', () => {
  it('shows SECRET and copies the token, with the fingerprint of an https address', () => {
    const parts = renderConnectCommand('http://127.0.0.1:3000', config, PLAIN)
    const rest = 'postern connect --url=https://postern.example.com:8443 --token - --fingerprint=sha256:ab12'
    expect(parts.map((part) => part.text).join('')).toBe(`echo SECRET | ${rest}`)
    expect(connectCommandText(parts, 'ptn_1')).toBe(`echo ptn_1 | ${rest}`)
  })

  it('has a short form with the token among the options', () => {
    const parts = renderShortConnectCommand('https://postern.example.com', config, PLAIN)
    expect(parts.map((part) => part.text).join('')).toBe(
      'postern connect --url=https://postern.example.com --token=SECRET --fingerprint=sha256:ab12',
    )
    expect(connectCommandText(parts, 'ptn_1')).toBe(
      'postern connect --url=https://postern.example.com --token=ptn_1 --fingerprint=sha256:ab12',
    )
  })

  it('allows the server what the node is set to', () => {
    const gatewayNetworks = ['192.168.7.0/24', 'fd77::/64'].map((subnet) => ({ interface: 'eth0', subnet }))
    const node = { isGateway: true, gatewayNetworks, allowInternet: true, dns: '192.168.7.1' }
    for (const render of [renderConnectCommand, renderShortConnectCommand])
      expect(connectCommandText(render('https://postern.example.com', config, node), 't')).toMatch(
        / --fingerprint=sha256:ab12 --gateway=192\.168\.7\.0\/24,fd77::\/64 --all-traffic --dns$/,
      )
  })

  it('pins nothing over plain http', () => {
    const parts = renderConnectCommand('http://192.168.1.5:3000', config, PLAIN)
    expect(connectCommandText(parts, 't')).toBe(
      'echo t | postern connect --url=http://192.168.1.5:3000 --token -',
    )
  })
})

const CONFIG = {
  VPN_HOST: 'postern.example.com',
  TCP_SERVICES_PORT_RANGE: '32660-32760',
  version: '1.0.0',
  publicUrl: 'https://postern.example.com:8443',
  publicHostIsPrivate: false,
  caFingerprint: 'sha256:00',
  signIn: null,
  installerSha256: 'ab'.repeat(32),
  repositoryUrl: null,
  contactUrl: null,
  sponsorUrl: null,
}

test('the command fetches, checks and only then runs', () => {
  expect(installCommand(CONFIG)).toBe(
    'f=$(mktemp) && curl -fsSk https://postern.example.com:8443/install/agent.sh -o "$f"' +
      ` && echo "${'ab'.repeat(32)}  $f" | sha256sum -c && sh "$f"`,
  )
})

test('without an agent there is no command', () => {
  expect(installCommand({ ...CONFIG, installerSha256: null })).toBeNull()
})
