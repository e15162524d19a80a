import type { Socket } from 'node:net'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type * as z from 'zod/mini'
import { authenticate } from './auth.ts'
import { type Call, parseCall } from './route.ts'

/** Declares a WebSocket endpoint. A caller without the right credential gets a plain answer instead of an upgrade. */
export function socketRoute<const E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (socket: WebSocket, call: Omit<Call<E>, 'body'>, stream: Socket) => void,
): void {
  const calls = new WeakMap<FastifyRequest, Omit<Call<E>, 'body'>>()
  app.get(
    endpoint.path,
    {
      websocket: true,
      preValidation: async (request, reply) => {
        const caller = await authenticate(request.server.context, request, endpoint)
        calls.set(request, parseCall(endpoint, request, reply, caller))
      },
    },
    (socket, request) => {
      const call = calls.get(request)
      if (call) handle(socket, call, request.socket)
      else socket.terminate()
    },
  )
}

export const PING_MS = 15_000
/** A client that leaves more than this unread is disconnected; it reconnects and asks for everything. */
const MAX_UNREAD_BYTES = 1024 * 1024

/** Pings and pongs of one round, many times over. */
const QUIET_BYTES = 4096

/**
 * Disconnects a client that should send nothing but sends a lot. The library limits memory (fragments of a message,
 * unread pongs); this limits the work.
 * @param stream the socket's transport
 */
export function keepQuiet(socket: WebSocket, stream: Socket): void {
  let left = QUIET_BYTES
  const timer = setInterval(() => {
    left = QUIET_BYTES
  }, PING_MS)
  stream.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.terminate()
  })
  socket.on('close', () => clearInterval(timer))
}

/** How long a client may take to close its side. */
const FAREWELL_MS = 1000

/** Ends a connection whose credential has ended; a client that does not answer is cut off. */
export function endSocket(socket: WebSocket, why: string): void {
  socket.close(1008, why)
  const timer = setTimeout(() => socket.terminate(), FAREWELL_MS)
  socket.on('close', () => clearTimeout(timer))
}

export function sendFrame(socket: WebSocket, message: unknown): void {
  if (socket.readyState !== socket.OPEN) return
  if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate()
  else socket.send(JSON.stringify(message))
}

/** Parses every frame; the first one that does not match the contract ends the connection (code 1008). */
export function onFrames<T>(
  socket: WebSocket,
  schema: z.ZodMiniType<T>,
  receive: (message: T) => void,
): void {
  socket.on('message', (data, isBinary) => {
    const message = isBinary ? undefined : parseFrame(schema, String(data))
    if (message === undefined) socket.close(1008, 'not a message of this protocol')
    else receive(message)
  })
}

function parseFrame<T>(schema: z.ZodMiniType<T>, text: string): T | undefined {
  try {
    const result = schema.safeParse(JSON.parse(text))
    return result.success ? result.data : undefined
  } catch {
    // Not JSON: the same as an unknown message.
    return undefined
  }
}
