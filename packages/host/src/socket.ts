import { rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'

const PATIENCE = 2000

/** True when a process listens on a unix socket and takes the connection within two seconds. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.setTimeout(PATIENCE, () => answer(false))
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}

interface AskLimits {
  timeoutMs: number
  mostBytes: number
  /** Gets the answer in pieces as they arrive; then none of it is kept. */
  onText?: (text: string) => void
}

/** @returns the whole answer to one question on a unix socket. @throws when it does not come, in words without a dot */
export function askSocket(
  path: string,
  question: string,
  { timeoutMs, mostBytes, onText }: AskLimits,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const kept: string[] = []
    let size = 0
    const socket = connect(path).setEncoding('utf8')
    // Whoever says a byte now and then is not silent, and has not answered either.
    const deadline = setTimeout(() => socket.destroy(tooLate()), MOST_TIMES * timeoutMs)
    socket.setTimeout(timeoutMs, () => socket.destroy(tooLate()))
    socket.on('data', (text: string) => {
      if (onText) onText(text)
      else kept.push(text)
      size += text.length
      if (size > mostBytes) socket.destroy(new Error('the answer is too long'))
    })
    socket.once('error', reject)
    socket.once('close', () => {
      clearTimeout(deadline)
      reject(new Error('the connection ended'))
    })
    socket.once('end', () => resolve(kept.join('')))
    // Some programs answer only when no further question can come.
    socket.end(question)
  })
}

/** A whole answer may take so many times as long as its first byte. */
const MOST_TIMES = 30
const tooLate = () => Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })

/**
 * Holds a path by listening on it, so that only one process at a time can, whatever its namespaces. The kernel
 * releases it with the process, however that ends.
 * @returns undefined when another process holds it
 */
export async function holdSocket(path: string): Promise<{ release(): Promise<void> } | undefined> {
  const server = await listen(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    if (await isAnswered(path)) return undefined
    await rm(path, { force: true })
    return listen(path)
  })
  return server && { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen(path, () => resolve(server.unref()))
  })
}
