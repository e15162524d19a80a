import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SYSTEM_USERS } from '@postern/contract/installation'
import { findSystemUser } from '../system-user.ts'

export interface ServerFiles {
  /** The server's unix socket. */
  socketPath: string
  tokenFile: string
}

const MAX_TOKEN_BYTES = 1024

/** What proves us to the server, and is for nobody else. @throws ServerSocketError */
export async function readToken({ socketPath, tokenFile }: ServerFiles): Promise<string> {
  await assertServerSocket(socketPath)
  // The server can put a link there, and would be sent what only we may read.
  const file = await open(tokenFile, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    const text = found.isFile() && found.size <= MAX_TOKEN_BYTES ? await file.readFile('utf8') : ''
    const token = /^[\w-]{16,}\n?$/.exec(text)?.[0]
    if (token === undefined) throw new ServerSocketError(`${tokenFile} holds no token of an edge.`)
    return token.trim()
  } finally {
    await file.close()
  }
}

/** The way to the server, or what is shown to it, is not as the server makes it; `message` names it. */
export class ServerSocketError extends Error {
  readonly code = 'server_socket'
}

/**
 * Before the edge shows its token: the socket belongs to the server's user or root, and no other user may put anything
 * into its directory, so that what was checked is what is connected to.
 * @throws ServerSocketError, or the system's error when there is none
 */
async function assertServerSocket(path: string): Promise<void> {
  const server = await findSystemUser([SYSTEM_USERS.server])
  const owners = new Set([0, process.getuid?.() ?? 0, ...(server ? [server.uid] : [])])
  const directory = await lstat(dirname(path))
  if (!directory.isDirectory() || !owners.has(directory.uid) || isWritableByOthers(directory))
    throw new ServerSocketError(`${dirname(path)} is not the server's own directory.`)
  const socket = await lstat(path)
  if (!socket.isSocket() || !owners.has(socket.uid))
    throw new ServerSocketError(`${path} is not the server's own socket.`)
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0
}
