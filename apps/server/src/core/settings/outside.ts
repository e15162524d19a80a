import { createPrivateKey } from 'node:crypto'
import type { FieldError } from '@postern/contract/errors'
import type { Settings } from '@postern/contract/settings/settings'
import { createAcmeClient } from '../../certificates/acme/client.ts'
import { createCertificateKey } from '../../certificates/acme/csr.ts'
import { AcmeError } from '../../certificates/acme/errors.ts'
import { createAcmeHttp } from '../../certificates/acme/http.ts'
import { createProvider } from '../sign-in/create-provider.ts'
import { ProviderError } from '../sign-in/provider-error.ts'

/** Asks the provider for its endpoints, before anybody is sent to it. */
export async function findProviderFaults(settings: Settings): Promise<FieldError[]> {
  try {
    await createProvider(settings)?.discover()
    return []
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return [{ field: 'POSTERN_OIDC_ISSUER', message: error.message }]
  }
}

/** Asks the authority for its directory, and whether it offers what is wanted of it. */
export async function findAuthorityFaults(settings: Settings, clock: () => number): Promise<FieldError[]> {
  const { POSTERN_ACME_DIRECTORY: directory, POSTERN_ACME_PROFILE: profile } = settings
  const http = createAcmeHttp(settings.POSTERN_ACME_CA_FILE)
  try {
    // Nothing is signed with it.
    const key = createPrivateKey(await createCertificateKey())
    const { meta } = await createAcmeClient({ http, directory, key, clock }).directory()
    const offered = Object.keys(meta?.profiles ?? {})
    const needsBinding = meta?.externalAccountRequired && settings.POSTERN_ACME_EAB_KID === null
    return [
      ...(profile === null || offered.includes(profile) ? [] : [noProfile(profile, offered)]),
      ...(needsBinding ? [{ field: 'POSTERN_ACME_EAB_KID', message: NEEDS_BINDING }] : []),
    ]
  } catch (error) {
    if (!(error instanceof AcmeError)) throw error
    return [{ field: 'POSTERN_ACME_DIRECTORY', message: error.message }]
  } finally {
    http.close()
  }
}

const NEEDS_BINDING =
  'This authority takes only accounts that you have there already: enter the key id and its HMAC key.'

function noProfile(profile: string, offered: readonly string[]): FieldError {
  const words = offered.length > 0 ? `only ${offered.slice(0, 10).join(', ')}` : 'none'
  return { field: 'POSTERN_ACME_PROFILE', message: `This authority offers no profile ${profile}, ${words}.` }
}
