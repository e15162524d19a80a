import { createSocket } from 'node:dgram'

/**
 * A visitor that floods a UDP port: `flows` sends each packet from a port of its own, `packets` all from one. It
 * sends as many as the kernel accepts, from its addresses in turn, and prints `asked` at once. Ends after a minute
 * and a half. Usage: node udp-crowd.ts flows|packets HOST PORT ADDRESS,…
 */
const [mode, host = '', port = '', list = ''] = process.argv.slice(2)
const addresses = list.split(',')
const family = host.includes(':') ? 'udp6' : 'udp4'
/** At a time: more would only wait in this program. */
const AT_ONCE = 64

const open = (address: string) =>
  new Promise<ReturnType<typeof createSocket>>((done) => {
    const socket = createSocket(family).on('error', () => undefined)
    socket.bind(0, address, () => done(socket))
  })

async function flows(worker: number): Promise<never> {
  for (let count = worker; ; count += AT_ONCE) {
    const socket = await open(addresses[count % addresses.length] ?? '')
    await new Promise<void>((done) => socket.send('x', Number(port), host, () => done()))
    socket.close()
  }
}

async function packets(worker: number): Promise<never> {
  const socket = await open(addresses[worker % addresses.length] ?? '')
  for (;;) await new Promise<void>((done) => socket.send('x', Number(port), host, () => done()))
}

console.log('asked')
setTimeout(() => process.exit(0), 90_000)
await Promise.all(
  Array.from({ length: AT_ONCE }, (_, worker) => (mode === 'flows' ? flows : packets)(worker)),
)
