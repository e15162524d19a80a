import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'

/**
 * A program that sends one word, over TCP or UDP, and a visitor of it, which prints the answer or why there is none.
 * Usage: node word.ts say tcp|udp ADDRESS PORT WORD, or node word.ts ask tcp|udp HOST PORT
 */
const [, , mode, proto, host = '', portText, word = ''] = process.argv
const port = Number(portText)
const PATIENCE = 1500
const kind = host.includes(':') ? 'udp6' : 'udp4'
/** In IPv4 form, even on an IPv6 socket. */
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
