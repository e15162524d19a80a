import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { type FileHandle, open, statfs } from 'node:fs/promises'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { codeOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'

/** Where lines go, as the setting says. */
export interface Destination {
  /** Takes a few thousand lines. @throws when they did not go out, or not all of them; what did is not known */
  send(lines: readonly string[], signal: AbortSignal): Promise<void>
  close(): void
}

export interface DestinationParts {
  exec: Exec
  /** The header of a syslog message with this time, in ms since the epoch. */
  header: (at: number) => string
  now: () => number
}

/** @param text as the setting has it: `file:/…`, `unix:/…`, `udp://host:port` or `tcp://host:port` */
export function openDestination(text: string, parts: DestinationParts): Destination {
  const path = text.slice(5)
  if (text.startsWith('file:')) return toFile(path)
  if (text.startsWith('unix:')) return toSocket(path, parts)
  const [, kind, host = '', port] = /^(udp|tcp):\/\/\[?([^\]/]+?)\]?:(\d+)$/.exec(text) ?? []
  return kind === 'udp'
    ? toDatagrams(host, Number(port), parts)
    : toStream({ host, port: Number(port) }, parts)
}

/** What stays free on the disk for everything else. */
const RESERVE = 200 * 1024 * 1024

/** Opened for each batch, so that whoever rotates the file need not tell us. */
function toFile(path: string): Destination {
  return {
    async send(lines) {
      const { bavail, bsize } = await statfs(dirname(path))
      if (bavail * bsize < RESERVE) throw new Error('the disk is full')
      const file = await openLog(path)
      try {
        await file.appendFile(`${lines.join('\n')}\n`)
      } finally {
        await file.close()
      }
    },
    close: () => undefined,
  }
}

/**
 * Not through a link, by which a user who may write to its directory would have root append to any file; and no pipe or
 * device, which could keep us waiting.
 */
async function openLog(path: string): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(async (error: unknown) => {
    if (codeOf(error) === 'ELOOP') throw new Error('it is a link')
    if (codeOf(error) === 'ENXIO') throw new Error('it is not a file')
    if (codeOf(error) !== 'ENOENT') throw error
    const made = await open(path, flags | constants.O_CREAT | constants.O_EXCL, 0o640)
    // Whatever the umask.
    await made.chmod(0o640)
    return made
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error('it is not a file')
}

/** As many as the kernel takes at once; the rest waits for its answer. */
const DATAGRAMS = 64

function toDatagrams(host: string, port: number, { header, now }: DestinationParts): Destination {
  let socket: Datagrams | undefined
  async function opened(): Promise<Datagrams> {
    if (socket) return socket
    const fresh = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    // Nobody listens: the next batch says so, if it is so still.
    fresh.on('error', () => undefined)
    fresh.unref()
    fresh.connect(port, host)
    await once(fresh, 'connect')
    socket = fresh
    return fresh
  }
  function close(): void {
    socket?.close()
    socket = undefined
  }
  return {
    async send(lines) {
      const open = await opened()
      const head = header(now())
      const sendOne = (line: string) =>
        new Promise<void>((resolve, reject) =>
          open.send(`${head}${line}`, (error) => (error ? reject(error) : resolve())),
        )
      try {
        for (let start = 0; start < lines.length; start += DATAGRAMS)
          await Promise.all(lines.slice(start, start + DATAGRAMS).map(sendOne))
      } catch (error) {
        close()
        throw error
      }
    },
    close,
  }
}

/** One connection, opened again when it ended. Each message says its length first (RFC 6587). */
function toStream(to: NetConnectOpts, { header, now }: DestinationParts): Destination {
  let socket: Socket | undefined
  async function opened(signal: AbortSignal): Promise<Socket> {
    if (socket && !socket.destroyed) return socket
    const fresh = connect({ ...to, signal } as NetConnectOpts)
    await once(fresh, 'connect', { signal })
    fresh.on('error', () => fresh.destroy())
    fresh.on('data', () => undefined)
    fresh.unref()
    socket = fresh
    return fresh
  }
  return {
    async send(lines, signal) {
      const open = await opened(signal)
      const head = header(now())
      const frames = lines.map(
        (line) => `${Buffer.byteLength(head) + Buffer.byteLength(line)} ${head}${line}`,
      )
      try {
        if (!open.write(frames.join(''))) await once(open, 'drain', { signal })
        if (open.destroyed) throw new Error('the connection ended')
      } catch (error) {
        open.destroy()
        throw error
      }
    },
    close: () => socket?.destroy(),
  }
}

/** A socket of streams, or one of datagrams like `/dev/log`, to which only a program of the system can write. */
function toSocket(path: string, parts: DestinationParts): Destination {
  const stream = toStream({ path }, parts)
  const args = ['-u', path, '--rfc5424=notq', '-p', 'local0.info', '-t', 'postern', '--size', '16384', '-e']
  let isDatagrams = false
  return {
    async send(lines, signal) {
      if (!isDatagrams)
        try {
          return await stream.send(lines, signal)
        } catch (error) {
          if (codeOf(error) !== 'EPROTOTYPE') throw error
          isDatagrams = true
        }
      const { code, stderr } = await parts.exec.run('logger', args, { input: `${lines.join('\n')}\n` })
      if (code === 0 && stderr === '') return
      isDatagrams = false
      throw new Error(stderr.trim().slice(0, 200) || `logger ended with ${code}`)
    },
    close: stream.close,
  }
}
