import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** An answer that fits into one packet gains nothing. */
const WORTHWHILE_BYTES = 1200

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** The highest quality takes 50 times as long for a fifth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/**
 * The length of a compressed answer shows whether a stranger's text occurs in it twice, so that a secret beside it
 * could be guessed. Only answers for the console are compressed: they hold no secret, and no other site can request
 * them.
 */
export function isCompressible(endpoint: Endpoint): boolean {
  const { method, auth, answer, isMixed = false } = endpoint
  return method === 'GET' && auth === 'session' && answer !== undefined && !isMixed
}

/** An `onSend` hook that compresses the answer with a method that the client accepts, preferably brotli. */
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
