import { expect, test } from 'vitest'
import { renderWireGuard } from './config.ts'

test('is the file for wg syncconf: exactly the peers, of which only one with an endpoint is called', () => {
  const peers = [
    { nodeId: 1, publicKey: 'PUB1=', presharedKey: 'PSK1=', allowedIps: ['10.64.0.2/32', 'fd00::2/128'] },
    {
      nodeId: 2,
      publicKey: 'PUB2=',
      presharedKey: 'PSK2=',
      allowedIps: ['10.64.0.3/32'],
      endpoint: '203.0.113.7:51820',
    },
  ]
  expect(renderWireGuard({ privateKey: 'OWN=', listenPort: 51820, peers })).toBe(`[Interface]
PrivateKey = OWN=
ListenPort = 51820

[Peer]
PublicKey = PUB1=
PresharedKey = PSK1=
AllowedIPs = 10.64.0.2/32, fd00::2/128
PersistentKeepalive = off

[Peer]
PublicKey = PUB2=
PresharedKey = PSK2=
AllowedIPs = 10.64.0.3/32
Endpoint = 203.0.113.7:51820
PersistentKeepalive = 25
`)
})

test('without peers it is the interface alone', () => {
  expect(renderWireGuard({ privateKey: 'OWN=', listenPort: 1, peers: [] })).toBe(
    '[Interface]\nPrivateKey = OWN=\nListenPort = 1\n',
  )
})
