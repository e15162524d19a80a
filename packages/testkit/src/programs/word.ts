import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'

/**
 * A program that says one word, by TCP or UDP, and a visitor of it, who prints what he gets or why he gets nothing.
 * Usage: node word.ts say tcp|udp ADDRESS PORT WORD, or node word.ts ask tcp|udp HOST PORT
 */
const [, , mode, proto, host = '', portText, word = ''] = process.argv
const port = Number(portText)
const PATIENCE = 1500
const kind = host.includes(':') ? 'udp6' : 'udp4'
/** As IPv4 has it, also to a socket of IPv6. */
const plain = (address = '') => address.replace('::ffff:', '')

if (mode === 'say' && proto === 'tcp')
  createServer((socket) =>
    socket.on('error', () => undefined).end(`${word} ${plain(socket.remoteAddress)}`),
  ).listen(port, host)
else if (mode === 'say') {
  const socket = createSocket(kind)
  socket.on('message', (_, from) => socket.send(`${word} ${plain(from.address)}`, from.port, from.address))
  socket.bind(port, host)
} else if (proto === 'tcp') {
  const socket = connect({ host, port })
  socket.on('data', (data) => end(String(data)))
  socket.on('error', (error) => end('code' in error ? String(error.code) : error.message))
} else {
  const socket = createSocket(kind)
  socket.on('message', (data) => end(String(data)))
  socket.on('error', (error) => end('code' in error ? String(error.code) : error.message))
  socket.connect(port, host, () => socket.send('?'))
}
if (mode === 'ask') setTimeout(() => end('silence'), PATIENCE)

function end(text: string): void {
  console.log(text)
  process.exit()
}
