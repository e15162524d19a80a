import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/**
 * Visitors who are silent until a file exists: `crowd.ts HOST PORT NETWORK COUNT FILE`, forty from each address of a
 * network like `198.51.100.` . Prints `open` once all are connected; then each sends a letter, and it prints
 * `answered N`.
 */
const [host = '', port = '', network = '', count = '', file = ''] = process.argv.slice(2)
const OF_EACH = 40
/** Opened at a time. */
const AT_ONCE = 250

const sockets: Socket[] = []
let answered = 0
for (let index = 0; index < Number(count); index++) {
  const localAddress = `${network}${1 + Math.floor(index / OF_EACH)}`
  const socket = connect({ host, port: Number(port), localAddress })
  socket.on('error', () => socket.destroy())
  sockets.push(socket)
  if (sockets.length % AT_ONCE === 0) await Promise.all(sockets.slice(-AT_ONCE).map(connected))
}
await Promise.all(sockets.map(connected))
console.log('open')
const timer = setInterval(() => {
  if (!existsSync(file)) return
  clearInterval(timer)
  for (const socket of sockets) {
    socket.once('data', () => {
      if (++answered === sockets.length) console.log(`answered ${answered}`)
    })
    socket.write('x')
  }
}, 50)

async function connected(socket: Socket): Promise<void> {
  if (socket.connecting) await once(socket, 'connect')
}
