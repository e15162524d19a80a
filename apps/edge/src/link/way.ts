import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { ClientOptions, WebSocket } from 'ws'

/** How an edge reaches its server. */
export interface ServerWay {
  /** Ready for one connection. @throws ServerSocketError when what is there is not the server's */
  open(): Promise<Door>
  /** The server that was opened last is away: the next `open` is to another one, if there is one. */
  turn(): void
  /** Waits before the next try, in ms. */
  retry: { first: number; most: number }
  /** How long an opened connection may take, in ms. */
  timeoutMs: number
  /** Whether requests go to the server of the WebSocket, and end with it; otherwise each opens its own door. */
  isShared: boolean
}

/** An open way to one server. */
export interface Door {
  webSocket(path: string, options: ClientOptions): WebSocket
  request(options: Request, onAnswer: (answer: IncomingMessage) => void): ClientRequest
  /** Ends all requests. */
  close(): void
}

type Request = Pick<RequestOptions, 'method' | 'path' | 'headers' | 'signal'>
