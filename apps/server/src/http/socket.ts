import type { Socket } from 'node:net'
import type { Endpoint } from '@postern/contract/endpoint'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
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
