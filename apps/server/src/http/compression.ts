import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { Endpoint } from '@postern/contract/endpoint'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What fits into one packet gains nothing. */
const WORTHWHILE_BYTES = 1200

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** The highest quality takes 50 times as long for a fifth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/**
 * The length of a compressed answer tells whether text that a stranger chose stands in it twice, and so guesses a
 * secret beside it. Only what the console reads is compressed: it holds no secret, and no other site can ask for it.
 */
export function isCompressible(endpoint: Endpoint): boolean {
  return endpoint.method === 'GET' && endpoint.auth === 'session' && endpoint.answer !== undefined
}

/** An `onSend` hook: the answer in a form that the client takes, brotli first. */
export async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || Buffer.byteLength(payload) < WORTHWHILE_BYTES) return payload
  reply.header('vary', 'accept-encoding')
  const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
  if (encoding === null) return payload
  reply.header('content-encoding', encoding)
  reply.removeHeader('content-length')
  return await (encoding === 'br' ? compressBrotli(payload, BROTLI) : compressGzip(payload))
}
