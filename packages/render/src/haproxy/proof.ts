import { PROOF_PATH } from '@postern/contract/reserved-paths'
import type { HaproxyOptions } from './options.ts'
import { renderServers } from './server.ts'

/** The condition of a plain HTTP request that asks the server to prove that a domain leads here. */
export const IS_PROOF = [
  'is_proof',
  '{ method GET }',
  '!is_coded',
  '!{ req.fhdr(content-length) -m int gt 0 }',
  '!{ req.fhdr_cnt(upgrade) gt 0 }',
].join(' ')

/** Before the rule that redirects. */
export function renderProofAcl(): string {
  return `  acl is_proof pathq -m reg '^${PROOF_PATH.replaceAll('.', '[.]')}/[0-9a-f]{32}$'`
}

/**
 * The server gets the question and no other part of the request, because it trusts what comes through its socket. One
 * elsewhere also hears where it comes from: without that, an edge would speak for itself.
 */
export function renderProofBackend(options: HaproxyOptions): string {
  const source = options.farServers ? '\n  http-request set-header X-Forwarded-For %[src]' : ''
  return `backend proof
  timeout server ${options.timeouts.head}s
  http-reuse never
  retries 0
  http-request del-header . -m reg
  http-request set-header Host localhost${source}
${renderServers(options)}
`
}
