import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import type { Context } from '../../context.ts'
import { PLACES } from '../../core/secrets/secrets.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { type AcmeClient, type Binding, createAcmeClient } from '../acme/client.ts'
import { createCertificateKey } from '../acme/csr.ts'
import type { AcmeHttp } from '../acme/http.ts'

/** Our account at the authority in the settings. */
export interface Authorized {
  client: AcmeClient
  /** Its address at the authority. */
  account: string
}

export interface Accounts {
  /** Makes one at the first order. @throws AcmeError */
  open(): Promise<Authorized>
  /** Call it when the authority no longer knows the account: the next order creates it again, with the same key. */
  forget(): Promise<void>
}

const accountNameOf = (directory: string) => `acme.account ${directory}`

const Kept = z.object({ url: z.string(), email: z.nullable(z.string()) })

/** Each authority gets its own key, so that none can track us to another. */
export function createAccounts(context: Context, http: AcmeHttp): Accounts {
  const { db, secrets, config, clock } = context
  let opened: { of: string; account: Promise<Authorized> } | undefined

  async function openKey(directory: string): Promise<string> {
    const keyName = `acme.key ${directory}`
    const kept = (await findSettings(db, keyName))?.[keyName]
    if (kept !== undefined) return secrets.open(kept, PLACES.setting(keyName))
    const key = await createCertificateKey()
    await putSettings(db, { [keyName]: secrets.seal(key, PLACES.setting(keyName)) })
    return key
  }

  async function open(): Promise<Authorized> {
    const { POSTERN_ACME_DIRECTORY: directory, POSTERN_ACME_EMAIL: email } = config.settings
    const accountName = accountNameOf(directory)
    const key = createPrivateKey(await openKey(directory))
    const client = createAcmeClient({ http, directory, key, clock })
    const kept = await findAccount(accountName)
    if (kept?.email === email) return { client, account: kept.url }
    const account = kept?.url ?? (await client.register({ email, binding: await findBinding(context) }))
    if (kept) await client.updateContact(account, email)
    await putSettings(db, { [accountName]: JSON.stringify({ url: account, email }) })
    return { client, account }
  }

  async function findAccount(accountName: string): Promise<z.infer<typeof Kept> | undefined> {
    const kept = (await findSettings(db, accountName))?.[accountName]
    return kept === undefined ? undefined : Kept.parse(JSON.parse(kept))
  }

  return {
    open() {
      const { POSTERN_ACME_DIRECTORY, POSTERN_ACME_EMAIL } = config.settings
      const of = JSON.stringify([POSTERN_ACME_DIRECTORY, POSTERN_ACME_EMAIL])
      if (opened?.of === of) return opened.account
      const next = { of, account: open() }
      opened = next
      next.account.catch(() => {
        if (opened === next) opened = undefined
      })
      return next.account
    },
    async forget() {
      opened = undefined
      const accountName = accountNameOf(config.settings.POSTERN_ACME_DIRECTORY)
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
