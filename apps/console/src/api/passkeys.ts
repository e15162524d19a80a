import type { NewPasskey, PasskeyAnswer, PasskeyCreation } from '@postern/contract/sign-in/factors'
import type { PasskeyRequest } from '@postern/contract/sign-in/second-step'
import { ApiError } from './api-error.ts'

/** Whether this browser has passkeys for this page: only for a name, not for an address, and only where nobody reads along. */
export function hasPasskeys(): boolean {
  return isSecureContext && 'PublicKeyCredential' in window && !isAddress(location.hostname)
}

export const isAddress = (host: string) => /^[\d.]+$|^\[/.test(host)

// The library is loaded with the first use: most people never need it.
const load = () => import('@simplewebauthn/browser')

/** Has the person use a passkey. @throws ApiError with words for people */
export async function askPasskey(request: PasskeyRequest): Promise<PasskeyAnswer> {
  const { startAuthentication } = await load()
  const { id, rawId, response } = await startAuthentication({ optionsJSON: forBrowser(request) }).catch(
    refuse,
  )
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return {
    ...{ id, rawId, type: 'public-key' },
    response: { clientDataJSON, authenticatorData, signature, userHandle },
  }
}

/** Has the person make a passkey. @throws ApiError with words for people */
export async function makePasskey(creation: PasskeyCreation): Promise<NewPasskey> {
  const { startRegistration } = await load()
  const { id, rawId, response } = await startRegistration({ optionsJSON: forBrowser(creation) }).catch(refuse)
  const { clientDataJSON, attestationObject, transports } = response
  return {
    ...{ id, rawId, type: 'public-key' },
    response: { clientDataJSON, attestationObject, transports: transports?.map(String) },
  }
}

/** The library's types name the transports that it knows; the server keeps what browsers said. */
const forBrowser = <T>(options: T) => options as never

const WORDS: Readonly<Record<string, string>> = {
  NotAllowedError: 'The passkey was not used: it was cancelled, or took too long.',
  InvalidStateError: 'This device has a passkey of your account already.',
  SecurityError: 'Passkeys do not work at this address.',
  NotSupportedError: 'This device has no passkey of the kind that is needed: one that asks who you are.',
  ConstraintError: 'This device has no passkey of the kind that is needed: one that asks who you are.',
}

function refuse(cause: unknown): never {
  const name = cause instanceof Error ? cause.name : ''
  throw new ApiError(WORDS[name] ?? 'The browser could not use a passkey.', {
    ...{ status: 0, code: 'passkey', cause },
  })
}
