import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/**
 * A HAProxy that has handed over closes its socket, but keeps connections to it that are already open, and does not
 * end before them. This program holds one, independently of the edge, and passes on questions from a socket of its
 * own, which ends with the connection. Usage: holder.ts SOCKET_OF_HAPROXY OWN_SOCKET
 */
const [haproxyPath = '', ownPath = ''] = process.argv.slice(2)
const PROMPT = '\n> '
const PATIENCE = 2000
const LONGEST_QUESTION = 16_000
/** HAProxy ends a quarter of an hour after it has handed over. */
const LIFE_S = 1200

const haproxy = connect({ path: haproxyPath })
const finish = () => {
  rmSync(ownPath, { force: true })
  process.exit()
}
haproxy.once('close', finish).on('error', finish)
setTimeout(finish, LIFE_S * 1000)

let last: Promise<unknown> = Promise.resolve()
/** One after another: each answer ends with a prompt. */
function ask(command: string): Promise<Buffer> {
  const turn = last.then(() => exchange(command))
  last = turn
  return turn
}

function exchange(command: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    // A late answer could not be told from the answer to the next question.
    const timer = setTimeout(finish, PATIENCE)
    const hear = (chunk: Buffer) => {
      chunks.push(chunk)
      const end = chunk.length >= PROMPT.length ? chunk : Buffer.concat(chunks)
      if (end.subarray(-PROMPT.length).toString() !== PROMPT) return
      clearTimeout(timer)
      haproxy.off('data', hear)
      resolve(Buffer.concat(chunks).subarray(0, -PROMPT.length + 1))
    }
    haproxy.on('data', hear)
    haproxy.write(`${command}\n`)
  })
}

function serve(client: Socket): void {
  let question = ''
  client.setTimeout(PATIENCE, () => client.destroy()).on('error', () => client.destroy())
  client.on('data', (chunk) => {
    question += chunk
    if (question.length > LONGEST_QUESTION) client.destroy()
  })
  client.once('end', async () => {
    for (const command of question.trim().split(';')) if (command) client.write(await ask(command))
    client.end()
  })
}

await ask('prompt')
await ask(`set timeout cli ${LIFE_S}`)
process.umask(0o077)
createServer({ allowHalfOpen: true }, serve).listen(ownPath)
