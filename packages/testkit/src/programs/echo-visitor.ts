import { createSocket } from 'node:dgram'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'

/**
 * A visitor of an echo. `tcp HOST PORT BYTES [FILE]` sends so many bytes and ends when all have come back; with a file it
 * says `open` then, waits for the file, and does so once more. `udp HOST PORT BYTES COUNT` sends so many packets in one
 * flow, each when the one before has come back. Prints how many were sent.
 */
const [kind, host = '', port = '', size = '', rest = ''] = process.argv.slice(2)
const message = Buffer.alloc(Number(size), 'x')

if (kind === 'tcp') overTcp()
else overUdp(Number(rest))

function overTcp(): void {
  const socket = connect({ host, port: Number(port), allowHalfOpen: true })
  let [rounds, received] = [rest === '' ? 1 : 2, 0]
  socket.write(message)
  socket.on('data', (chunk) => {
    received += chunk.length
    if (received < message.length) return
    received = 0
    if (--rounds === 0) return void socket.end()
    console.log('open')
    const timer = setInterval(() => {
      if (!existsSync(rest)) return
      clearInterval(timer)
      socket.write(message)
    }, 50)
  })
  socket.on('end', () => console.log('1'))
}

/** One that gets lost is sent again, and counts. */
function overUdp(count: number): void {
  let [sent, received] = [0, 0]
  const socket = createSocket('udp4')
  const send = () => {
    sent++
    socket.send(message)
  }
  let timer = setInterval(send, 2000)
  socket.on('message', () => {
    clearInterval(timer)
    if (++received === count) {
      console.log(sent)
      return void socket.close()
    }
    timer = setInterval(send, 2000)
    send()
  })
  socket.connect(Number(port), host, send)
}
