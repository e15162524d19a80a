import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import type { Context } from '../../context.ts'
import { PLACES } from '../../core/secrets/secrets.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { type AcmeClient, type Binding, createAcmeClient } from '../acme/client.ts'
import { createCertificateKey } from '../acme/csr.ts'
import type { AcmeHttp } from '../acme/http.ts'

/** Our account at the authority of the settings. */
export interface Authorized {
  client: AcmeClient
  /** Its address there. */
  account: string
}

export interface Accounts {
  /** Makes one at the first order. @throws AcmeError */
  open(): Promise<Authorized>
  /** The authority does not know it any more: the next order makes it anew, with the same key. */
  forget(): Promise<void>
}

const Kept = z.object({ url: z.string(), email: z.nullable(z.string()) })

/** Each authority has a key of its own: none can follow us to another. */
export function createAccounts(context: Context, http: AcmeHttp): Accounts {
  const { db, secrets, config, clock } = context
  const { POSTERN_ACME_DIRECTORY: directory, POSTERN_ACME_EMAIL: email } = config.settings
  const [keyName, accountName] = [`acme.key ${directory}`, `acme.account ${directory}`]
  let opened: Promise<Authorized> | undefined

  async function openKey(): Promise<string> {
    const kept = (await findSettings(db, keyName))?.[keyName]
    if (kept !== undefined) return secrets.open(kept, PLACES.setting(keyName))
    const key = await createCertificateKey()
    await putSettings(db, { [keyName]: secrets.seal(key, PLACES.setting(keyName)) })
    return key
  }

  async function open(): Promise<Authorized> {
    const client = createAcmeClient({ http, directory, key: createPrivateKey(await openKey()), clock })
    const kept = await findAccount()
    if (kept?.email === email) return { client, account: kept.url }
    const account = kept?.url ?? (await client.register({ email, binding: await findBinding(context) }))
    if (kept) await client.updateContact(account, email)
    await putSettings(db, { [accountName]: JSON.stringify({ url: account, email }) })
    return { client, account }
  }

  async function findAccount(): Promise<z.infer<typeof Kept> | undefined> {
    const kept = (await findSettings(db, accountName))?.[accountName]
    return kept === undefined ? undefined : Kept.parse(JSON.parse(kept))
  }

  return {
    open() {
      opened ??= open()
      opened.catch(() => {
        opened = undefined
      })
      return opened
    },
    async forget() {
      opened = undefined
      await db.deleteFrom('settings').where('key', '=', accountName).execute()
    },
  }
}

async function findBinding({ config }: Context): Promise<Binding | null> {
  const { POSTERN_ACME_EAB_KID: kid, POSTERN_ACME_EAB_HMAC: hmac } = config.settings
  const file = config.settings.POSTERN_ACME_EAB_HMAC_FILE
  if (kid === null) return null
  return { kid, secret: hmac ?? (file === null ? '' : (await readFile(file, 'utf8')).trim()) }
}
