import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SYSTEM_USERS } from '@postern/contract/installation'
import { findSystemUser } from './system-user.ts'

/** The way to the server is not the server's own; `message` says whose it may be. */
export class ServerSocketError extends Error {
  readonly code = 'server_socket'
}

/**
 * Before the edge shows its token: whoever answers there is the server's user or root. Nobody else may put anything
 * into the directory, so that what was looked at is what is connected to.
 * @throws ServerSocketError, or the system's error when there is none
 */
export async function assertServerSocket(path: string): Promise<void> {
  const server = await findSystemUser([SYSTEM_USERS.server])
  const owners = new Set([0, process.getuid?.() ?? 0, ...(server ? [server.uid] : [])])
  const directory = await lstat(dirname(path))
  if (!directory.isDirectory() || !owners.has(directory.uid) || isWritableByOthers(directory))
    throw new ServerSocketError(`${dirname(path)} is not a directory of the server's own.`)
  const socket = await lstat(path)
  if (!socket.isSocket() || !owners.has(socket.uid))
    throw new ServerSocketError(`${path} is not a socket of the server's own.`)
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0
}
