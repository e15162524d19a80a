import { connect, type TLSSocket } from 'node:tls'

/**
 * A visitor who comes again and again with a new connection, whatever became of the one before: `steady-visitor.ts
 * ADDRESS DOMAIN EVERY_MS OWN_ADDRESS`. Prints a line per visit when it is over: when it began, in ms, and `ok`, `none`
 * (no connection, or none in time) or `wrong` with what was answered.
 */
const [host = '', domain = '', every = '', own = ''] = process.argv.slice(2)
const PATIENCE = 1000

setInterval(() => {
  const began = Math.round(performance.now())
  void visit().then((end) => console.log(`${began} ${end}`))
}, Number(every))

function visit(): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket: TLSSocket = connect({ host, port: 443, servername: domain, rejectUnauthorized: false })
    const timer = setTimeout(() => end('none'), PATIENCE)
    const end = (how: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(how)
    }
    socket.on('secureConnect', () =>
      socket.write(`GET /steady HTTP/1.1\r\nhost: ${domain}\r\nconnection: close\r\n\r\n`),
    )
    socket.on('data', (piece) => {
      answer += piece
    })
    socket.on('error', () => end(judge(answer)))
    socket.on('end', () => end(judge(answer)))
  })
}

/** An answer counts only as a whole: one that was cut off is none. */
function judge(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  if (answer === '' || !answer.includes('\r\n\r\n')) return 'none'
  const isRight =
    head.startsWith('HTTP/1.1 200 ') && body.includes(`"host":"${domain}"`) && body.includes(own)
  if (isRight) return 'ok'
  return /^HTTP\/1\.1 200 /.test(head) && !body.includes('}}') ? 'none' : `wrong ${head.split('\r\n')[0]}`
}
