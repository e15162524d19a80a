import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { TunnelSettings } from '@postern/contract/edge/desired-state'
import { SignJWT } from 'jose'
import { type KeyParts, loadKeys, type SignInKey } from './keys.ts'

/** The claims about a visitor that a service can verify. Times in seconds since the epoch. */
interface IdentityClaims {
  email: string
  /** The domain. */
  aud: string
  iat: number
  exp: number
}

export type IdentityKey = TunnelSettings['identityKeys'][number]

/** Identities of visitors for services: JWTs with ES256, which nearly all libraries can verify. */
export interface Identities {
  /** The public keys for the JWKS: those of valid identities, and the next one. */
  publicKeys(): readonly IdentityKey[]
  seal(claims: IdentityClaims): Promise<string>
  renew(): Promise<void>
}

/** @param issuer the console's address now */
export async function loadIdentities(parts: KeyParts, issuer: () => string): Promise<Identities> {
  const keys = await loadKeys(parts, {
    setting: 'sign-in.identity-keys',
    what: "key of visitors' identities renewed",
    // Some services ask for the keys once a day.
    learning: 86_400_000,
    makeSecret: () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    },
  })
  const known = new Map<string, IdentityKey>()
  return {
    publicKeys: () =>
      keys.all().map((key) => {
        const found = known.get(key.id) ?? publicKeyOf(key)
        known.set(key.id, found)
        return found
      }),
    async seal({ email, ...claims }) {
      const key = keys.current()
      return await new SignJWT({ iss: issuer(), sub: email, email, ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: key.id })
        .sign(privateKeyOf(key))
    },
    renew: keys.renew,
  }
}

function privateKeyOf({ secret }: SignInKey) {
  return createPrivateKey({ key: Buffer.from(secret, 'base64'), type: 'pkcs8', format: 'der' })
}

function publicKeyOf(key: SignInKey): IdentityKey {
  const { x = '', y = '' } = createPublicKey(privateKeyOf(key)).export({ format: 'jwk' })
  return { id: key.id, x, y }
}
