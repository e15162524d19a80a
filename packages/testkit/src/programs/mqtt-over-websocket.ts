import { WebSocket } from 'ws'

/**
 * Sends CONNECT to an MQTT broker over a WebSocket and prints `CONNACK <return code>` (MQTT 3.1.1, section 3.2).
 * Usage: node mqtt-over-websocket.ts SERVER-ADDRESS DOMAIN
 */
const [, , server = '', domain = ''] = process.argv

const socket = new WebSocket(`wss://${domain}/mqtt`, 'mqtt', {
  // The certificate is the installation's own; trust is shown by other tests.
  rejectUnauthorized: false,
  lookup: (_name, _options, done) => done(null, [{ address: server, family: 4 }]),
})
const clientId = Buffer.from('postern')
const variableHeader = Buffer.from([0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 60])
const payload = Buffer.from([0, clientId.length, ...clientId])
socket.on('open', () =>
  socket.send(
    Buffer.concat([Buffer.from([0x10, variableHeader.length + payload.length]), variableHeader, payload]),
  ),
)
socket.on('message', (data: Buffer) => {
  console.log(data[0] === 0x20 ? `CONNACK ${data[3]}` : `unexpected packet ${data[0]}`)
  process.exit(0)
})
socket.on('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
setTimeout(() => process.exit(1), 20_000)
