import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { SecureContext } from 'node:tls'
import { type EdgeMachine, JoinAnswer, type JoinForm } from '@postern/contract/edge/join'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import type { InstallationPaths } from '@postern/contract/installation'
import { UsageError } from '@postern/host/flags'
import { type HttpAnswer, networkReason, request } from '@postern/host/http'
import { createTrust, findDistrust, findFingerprint, findMeant, listCertificates } from '@postern/host/trust'
import { createCsr, createKey } from './csr.ts'
import { assertWhole, type Identity, IdentityError, writeIdentity } from './identity.ts'

/** A machine that does not become an edge; `message` says why, and what to do. */
export class JoinError extends Error {
  readonly code = 'join'
}

export interface JoinOptions {
  /** As the console shows it: `https://host#sha256:…`, or without a fingerprint where a public authority vouches. */
  address: string
  token: string
  paths: Pick<InstallationPaths, 'identityDir' | 'database'>
  version: string
  tunnelPort: number
  machine: EdgeMachine
  /** ms since the epoch. */
  now: () => number
}

export type Joined = Pick<JoinAnswer, 'name' | 'number'> & { identity: Identity }

const LIMITS = { timeoutMs: 15_000, maxBytes: 65_536 }
export const JOIN_SHAPE = 'postern-edge join https://HOST#sha256:FINGERPRINT TOKEN'

/**
 * Makes this machine the edge that the token names. Its key is made here and stays here.
 * @param options `paths.identityDir` must not exist, and the directory around it must
 * @throws JoinError, UsageError
 */
export async function joinInstallation(options: JoinOptions): Promise<Joined> {
  const { paths, version, tunnelPort, machine } = options
  const { url, fingerprint } = parseAddress(options.address)
  assertFree(paths)
  const trust =
    fingerprint === undefined ? createTrust(null) : createTrust(await fetchAuthority(url, fingerprint))
  const key = createKey()
  const form: JoinForm = { token: options.token, csr: createCsr(key), version, tunnelPort, machine }
  const { edgeId, name, number, certificate, root, servers, known } = await ask(url, trust, form)
  const identity: Identity = { key, certificate, root, known: { edgeId, ...known, servers } }
  assertUsable(identity, paths.identityDir, options.now())
  await writeIdentity(paths.identityDir, identity)
  return { name, number, identity }
}

function parseAddress(text: string): { url: URL; fingerprint: string | undefined } {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new UsageError(`Copy the whole line of the console: ${JOIN_SHAPE}`)
  const hash = url.hash.slice(1)
  const fingerprint = findFingerprint(hash)
  if (hash !== '' && fingerprint === undefined)
    throw new UsageError(
      `What follows # in the address must be sha256: and 64 hexadecimal digits: ${JOIN_SHAPE}`,
    )
  return { url: new URL(url.origin), fingerprint }
}

function assertFree({ identityDir, database }: JoinOptions['paths']): void {
  if (existsSync(identityDir))
    throw new JoinError('This machine is an edge already. To join anew, run postern-edge leave first.')
  if (existsSync(database))
    throw new JoinError('A server keeps its data on this machine, and its own edge needs not join.')
}

async function fetchAuthority(url: URL, fingerprint: string): Promise<string> {
  const answer = await reach(url, () =>
    request(new URL('/install/ca.crt', url), { ...LIMITS, method: 'GET', trust: 'anyone' }),
  )
  const shown = answer.status === 200 ? listCertificates(answer.body) : []
  if (shown.length === 0) throw new JoinError(`${url.host} does not answer like a Postern server`)
  const found = findMeant(url.host, shown, fingerprint)
  if ('root' in found) return found.root
  throw new JoinError(found.problem)
}

async function ask(url: URL, trust: SecureContext, form: JoinForm): Promise<JoinAnswer> {
  const { method, path } = endpoints.edgeJoin
  const headers = { 'content-type': 'application/json' }
  const answer = await reach(url, () =>
    request(new URL(path, url), { ...LIMITS, method, headers, body: JSON.stringify(form), trust }),
  )
  if (answer.status !== 200) throw new JoinError(refusalOf(answer))
  const parsed = JoinAnswer.safeParse(parseJson(answer.body))
  if (parsed.success) return parsed.data
  throw new JoinError(
    `${url.host} does not answer like a server of this version. Install the same release on both.`,
  )
}

async function reach(url: URL, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  try {
    return await send()
  } catch (error) {
    const advice = 'Copy the whole line of the console, with what follows the #.'
    const untrusted = findDistrust(url.host, error, advice)
    throw new JoinError(untrusted ?? `Cannot reach the server: ${networkReason(url.hostname, error)}.`)
  }
}

/** In the server's own words, where it has some. */
function refusalOf({ status, body }: HttpAnswer): string {
  const said = ErrorBody.safeParse(parseJson(body))
  if (!said.success) return `The server answered ${status} when asked to let this machine join.`
  const fields = (said.data.errors ?? []).map(({ field, message }) => `${field} ${message}`)
  return `The server refuses: ${[said.data.message, ...fields].join('. ')}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schemas refuse it.
    return undefined
  }
}

function assertUsable(identity: Identity, directory: string, now: number): void {
  try {
    assertWhole(identity, directory)
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error
    throw new JoinError('The server sent a certificate for another key than was made here.')
  }
  const { validFromDate, validToDate } = new X509Certificate(identity.certificate)
  if (now < validFromDate.getTime() || now > validToDate.getTime())
    throw new JoinError(
      `The clock of this machine (${new Date(now).toISOString()}) is not the server's. Set it, and join with a new token of the console.`,
    )
}
