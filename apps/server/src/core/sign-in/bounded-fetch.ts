import type { CustomFetch } from 'openid-client'
import { ProviderError } from './provider-error.ts'

/** As the library calls it. */
export type Fetch = CustomFetch

/** A list of keys is the longest thing that a provider answers with. */
const MAX_ANSWER = 512 * 1024

/** Nothing bounds what a provider answers with, so no more than this is read; what was read is answered. */
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
