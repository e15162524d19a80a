import { createSocket } from 'node:dgram'

/**
 * A visitor of UDP services, as a program of its own: `dns HOST PORT NAME TYPE` asks a name server once and prints the
 * length of the answer; `keep HOST PORT SOURCE COUNT` keeps that many flows up and prints, whenever that changes, how
 * many get answers and the answers themselves without repetitions; `flood HOST PORT SOURCE COUNT` sends one packet from
 * each of so many ports.
 */
const [mode, host = '', port = '', ...rest] = process.argv.slice(2)
const family = host.includes(':') ? 'udp6' : 'udp4'

if (mode === 'dns') ask(rest[0] ?? '', Number(rest[1]))
else if (mode === 'flood') await flood(rest[0] ?? '', Number(rest[1]))
else keep(rest[0] ?? '', Number(rest[1]))

function ask(name: string, type: number): void {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)])
  const head = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
  // EDNS: answers of up to 4096 bytes.
  const query = Buffer.from([...head, ...labels, 0, 0, type, 0, 1, 0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0])
  // Connected: only an answer from where it asked is one.
  const socket = createSocket(family).on('error', () => undefined)
  socket.connect(Number(port), host, () => socket.send(query))
  socket.on('message', (answer) => {
    const isRight = answer[1] === 7 && ((answer[3] ?? 0) & 15) === 0 && answer.readUInt16BE(6) > 0
    console.log(isRight ? answer.length : 'refused')
    process.exit()
  })
  setTimeout(() => process.exit(), 700)
}

async function flood(source: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++)
    await new Promise<void>((done) => {
      const socket = createSocket(family)
      socket.bind(0, source, () => socket.send('x', Number(port), host, () => socket.close(done)))
    })
}

function keep(source: string, count: number): void {
  const last = new Map<number, { at: number; text: string }>()
  for (let index = 0; index < count; index++) {
    const socket = createSocket(family).on('error', () => undefined)
    socket.on('message', (answer) => last.set(index, { at: Date.now(), text: String(answer) }))
    socket.bind(0, source, () =>
      socket.connect(Number(port), host, () =>
        setInterval(() => socket.send('x', () => undefined), 100 + count),
      ),
    )
  }
  let said = ''
  setInterval(() => {
    const fresh = [...last.values()].filter(({ at }) => Date.now() - at < 3000)
    const line = `${fresh.length} ${[...new Set(fresh.map(({ text }) => text))].sort().join()}`
    if (line !== said) console.log(line)
    said = line
  }, 50)
}
