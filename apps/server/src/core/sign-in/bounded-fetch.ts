import type { CustomFetch } from 'openid-client'
import { ProviderError } from './provider-error.ts'

/** The signature that the library uses. */
export type Fetch = CustomFetch

/** The longest answer of a provider is a list of keys. */
const MAX_ANSWER = 512 * 1024

/** Reads at most this much of an answer, because a provider may send any amount. */
export function createBoundedFetch(fetch: Fetch): Fetch {
  return async (url, options) => {
    const answer = await fetch(url, options)
    if (!answer.body) return answer
    const { status, statusText, headers } = answer
    return new Response(await readBounded(answer.body, new URL(url).host), { status, statusText, headers })
  }
}

async function readBounded(body: ReadableStream<Uint8Array>, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop ends the connection.
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ANSWER) throw new ProviderError('untrusted', `The answer from ${host} is too long.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
