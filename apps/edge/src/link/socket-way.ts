import { request } from 'node:http'
import { WebSocket } from 'ws'
import { readToken, type ServerFiles } from './server-token.ts'
import type { ServerWay } from './way.ts'

/** To the server on the same machine: its unix socket, and the token that only root and the server can read. */
export function createSocketWay(files: ServerFiles): ServerWay {
  return {
    async open() {
      const { socketPath } = files
      const authorization = `Bearer ${await readToken(files)}`
      return {
        webSocket: (path, options) =>
          new WebSocket(`ws+unix:${socketPath}:${path}`, { ...options, headers: { authorization } }),
        request: ({ headers, ...options }, onAnswer) =>
          request({ ...options, socketPath, headers: { ...headers, authorization }, agent: false }, onAnswer),
        close: () => undefined,
      }
    },
    turn: () => undefined,
    // Connecting to a unix socket costs nothing, and a returning server should be found soon.
    retry: { first: 100, most: 1000 },
    timeoutMs: 10_000,
    isShared: false,
  }
}
