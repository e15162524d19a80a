import { WebSocket } from 'ws'

/**
 * A visitor with an open WebSocket: sends a number every 50 ms and prints `echo N` for each that comes back;
 * prints `closed CODE` at the end. Bounded to five minutes.
 * Usage: node ws-client.ts SERVER-ADDRESS DOMAIN
 */
const [, , server = '', domain = ''] = process.argv

const socket = new WebSocket(`wss://${domain}/`, {
  // The certificate is the installation's own; trust is shown by other tests.
  rejectUnauthorized: false,
  lookup: (_name, _options, done) => done(null, [{ address: server, family: 4 }]),
})
let count = 0
socket.on('open', () => setInterval(() => socket.send(String(count++)), 50))
socket.on('message', (data) => console.log(`echo ${data}`))
socket.on('error', (error) => console.log(`error ${error.message}`))
socket.on('close', (code) => {
  console.log(`closed ${code}`)
  process.exit(0)
})
setTimeout(() => process.exit(1), 300_000)
