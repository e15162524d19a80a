import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { NewPasskey, PasskeyAnswer, PasskeyCreation } from '@postern/contract/sign-in/factors'
import type { PasskeyRequest } from '@postern/contract/sign-in/second-step'

/** What an answer says that differs from what an honest browser and its passkey say. */
export interface Forged {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  counter?: number
  isVerified?: boolean
  userHandle?: string | null
  /** Signs with another key. */
  key?: ReturnType<typeof makeKeys>
}

/** A passkey with its browser, in software, which can also lie. */
export interface SoftPasskey {
  id: string
  /** Signatures that it has made. */
  counter: number
  create(creation: PasskeyCreation, forged?: Forged): NewPasskey
  answer(request: PasskeyRequest, forged?: Forged): PasskeyAnswer
}

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_CREDENTIAL = 64

export function makeKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** @param origin of the page in its browser */
export function createSoftPasskey(origin: string): SoftPasskey {
  const keys = makeKeys()
  const idBytes = randomBytes(16)
  const id = idBytes.toString('base64url')
  let userHandle = 'AAAA'
  const passkey: SoftPasskey = {
    id,
    counter: 0,
    create(creation, forged = {}) {
      userHandle = creation.user.id
      const credential = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, idBytes.length]),
        idBytes,
        coseOf(keys),
      ])
      const head = headOf(forged.rpId ?? creation.rp.id, forged, HAS_CREDENTIAL, passkey.counter)
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(Buffer.concat([head, credential]))],
      ])
      const client = clientOf('webauthn.create', creation.challenge, origin, forged)
      return {
        ...{ id, rawId: id, type: 'public-key' },
        response: {
          clientDataJSON: client.toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    answer({ challenge, rpId }, forged = {}) {
      passkey.counter++
      const head = headOf(forged.rpId ?? rpId, forged, 0, passkey.counter)
      const client = clientOf('webauthn.get', challenge, origin, forged)
      const { privateKey } = forged.key ?? keys
      const signature = sign(
        'sha256',
        Buffer.concat([head, createHash('sha256').update(client).digest()]),
        privateKey,
      )
      const handle = forged.userHandle === undefined ? userHandle : forged.userHandle
      return {
        ...{ id, rawId: id, type: 'public-key' },
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: head.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: handle,
        },
      }
    },
  }
  return passkey
}

function headOf(rpId: string, forged: Forged, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(forged.counter ?? counter)
  const verified = (forged.isVerified ?? true) ? USER_VERIFIED : 0
  return Buffer.concat([
    createHash('sha256').update(rpId).digest(),
    Buffer.from([USER_PRESENT | verified | flags]),
    count,
  ])
}

function clientOf(type: string, challenge: string, origin: string, forged: Forged): Buffer {
  const said = { type, challenge, origin, crossOrigin: false }
  const { origin: from, challenge: other, type: kind } = forged
  return Buffer.from(
    JSON.stringify({
      ...said,
      ...(from !== undefined && { origin: from }),
      ...(other !== undefined && { challenge: other }),
      ...(kind !== undefined && { type: kind }),
    }),
  )
}

/** An ES256 key as COSE writes it. */
function coseOf({ publicKey }: ReturnType<typeof makeKeys>): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const part = (text: string) => cborBytes(Buffer.from(text, 'base64url'))
  // Key type 2, algorithm -7, curve 1.
  return Buffer.concat([
    Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]),
    part(x),
    Buffer.from([0x22]),
    part(y),
  ])
}

const cborMap = (entries: [Buffer, Buffer][]) =>
  Buffer.concat([Buffer.from([0xa0 + entries.length]), ...entries.flat()])
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
/** Fewer than 256, as the shortest form, which the library expects. */
const cborBytes = (bytes: Buffer) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes])
