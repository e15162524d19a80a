import { codeOf, messageOf } from '@postern/host/errors'
import { askSocket } from '@postern/host/socket'

/** The runtime socket did not answer, or not in time. */
export class HaproxySocketError extends Error {
  readonly code = 'haproxy_socket'
  /** A program listens there, but has not answered. */
  readonly isSilence: boolean
  constructor(message: string, isSilence = false) {
    super(message)
    this.isSilence = isSilence
  }
}

/** HAProxy's runtime socket. One connection for each command, which HAProxy closes after its answer. */
export interface HaproxySocket {
  /** @throws HaproxySocketError */
  send(command: string): Promise<string>
  /** Many short commands, packed into as few connections as possible; the answers one after another. */
  sendAll(commands: readonly string[]): Promise<string>
  /** For an answer of any length: it arrives in pieces and is not kept. */
  read(command: string, onText: (text: string) => void): Promise<void>
}

const LIMITS = { timeoutMs: 2_000, mostBytes: 64 * 1024 * 1024 }
/** Enough for all requests of the largest HAProxy, with 2.5 kB each. */
const LONGEST = 1024 * 1024 * 1024
/** A command of 16 kB or more vanishes without an answer. */
export const MAX_COMMAND = 14_000

export function openHaproxySocket(path: string): HaproxySocket {
  const send = (command: string) => ask(path, command)
  return {
    send,
    async sendAll(commands) {
      const answers: string[] = []
      for (const line of pack(commands)) answers.push(await send(line))
      return answers.join('')
    },
    read: async (command, onText) => void (await ask(path, command, { mostBytes: LONGEST, onText })),
  }
}

async function ask(
  path: string,
  command: string,
  more: { mostBytes?: number; onText?: (text: string) => void } = {},
): Promise<string> {
  if (Buffer.byteLength(command) > MAX_COMMAND)
    throw new HaproxySocketError('a command for HAProxy is too long')
  return await askSocket(path, `${command}\n`, { ...LIMITS, ...more }).catch((cause: unknown) => {
    const isSilence = ['ETIMEDOUT', 'EAGAIN'].includes(String(codeOf(cause)))
    throw new HaproxySocketError(`HAProxy's socket: ${messageOf(cause)}`, isSilence)
  })
}

function pack(commands: readonly string[]): string[] {
  const lines: string[] = []
  let line = ''
  for (const command of commands) {
    if (line.length + command.length + 1 > MAX_COMMAND) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? command : `${line};${command}`
  }
  return line === '' ? lines : [...lines, line]
}
