import { readFileSync } from 'node:fs'
import type { Settings } from '@postern/contract/settings/settings'
import type { ServerConfig } from '../../config.ts'
import { createGate } from '../accounts/gate.ts'
import { createBoundedFetch, type Fetch } from './bounded-fetch.ts'
import { createGitHubProvider } from './github.ts'
import { createOpenIdProvider, type Registration } from './openid.ts'
import type { Provider } from './provider.ts'

interface Around {
  fetch?: Fetch
  timeoutSeconds?: number
}

const TIMEOUT_SECONDS = 10
/** Strangers can make us ask the provider about invented codes. */
const [AT_ONCE, WAITING] = [10, 100]
const GITHUB = 'github:'

/** The provider as the settings have it now. */
export interface Providers {
  /** The same object while its settings stay; undefined: none is set up. */
  current(): Provider | undefined
}

export function createProviders(config: Pick<ServerConfig, 'settings'>): Providers {
  let [mark, provider] = ['', undefined as Provider | undefined]
  return {
    current() {
      const { POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID, ...others } = config.settings
      const { POSTERN_OIDC_CLIENT_SECRET, POSTERN_OIDC_CLIENT_SECRET_FILE } = others
      const now = JSON.stringify([
        ...[POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID],
        ...[POSTERN_OIDC_CLIENT_SECRET, POSTERN_OIDC_CLIENT_SECRET_FILE],
      ])
      if (now !== mark) provider = createProvider(config.settings)
      mark = now
      return provider
    },
  }
}

/** @returns undefined when none is set up */
export function createProvider(settings: Settings, around: Around = {}): Provider | undefined {
  const { POSTERN_OIDC_ISSUER: issuer, POSTERN_OIDC_CLIENT_ID: clientId } = settings
  if (issuer === null || clientId === null) return undefined
  return openProvider({ issuer, clientId, secret: findSecret(settings), wants: 'email' }, around)
}

interface Place extends Pick<Registration, 'clientId' | 'secret' | 'wants'> {
  /** As settings have it once they are read: an address, for GitHub after `github:`. */
  issuer: string
}

export function openProvider({ issuer, ...own }: Place, around: Around = {}): Provider {
  const { fetch = askTheWorld, timeoutSeconds = TIMEOUT_SECONDS } = around
  const registration: Registration = { ...own, timeoutSeconds, fetch: createBoundedFetch(fetch) }
  const provider = issuer.startsWith(GITHUB)
    ? createGitHubProvider(issuer.slice(GITHUB.length), registration)
    : createOpenIdProvider(issuer, registration)
  const gate = createGate(AT_ONCE, WAITING)
  return {
    ...provider,
    redeem: (answer, question, rank) => gate.pass(() => provider.redeem(answer, question), rank),
  }
}

const askTheWorld: Fetch = (url, options) => fetch(url, options as RequestInit) // the library's type allows bytes in shared memory, which it never sends

function findSecret(settings: Settings): string {
  const { POSTERN_OIDC_CLIENT_SECRET: secret, POSTERN_OIDC_CLIENT_SECRET_FILE: file } = settings
  return secret ?? (file === null ? '' : readFileSync(file, 'utf8').trim())
}
