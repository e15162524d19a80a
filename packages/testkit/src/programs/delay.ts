import { createSocket } from 'node:dgram'

/**
 * Passes on every packet of one UDP conversation after a while, in both directions: a long way, where the kernel has no
 * netem. Usage: node delay.ts PORT HOST PORT MS
 */
const [, , ownPort, host, port, ms] = process.argv
const inner = createSocket('udp4')
const outer = createSocket('udp4')
let last = { address: '', port: 0 }

inner.on('message', (packet, from) => {
  last = from
  setTimeout(() => outer.send(packet, Number(port), host), Number(ms))
})
outer.on('message', (packet) => {
  const { address, port } = last
  setTimeout(() => inner.send(packet, port, address), Number(ms))
})
inner.bind(Number(ownPort))
