import { Environment } from '@postern/contract/settings/settings'
import { type ConsoleProviderForm, RoleRule } from '@postern/contract/sign-in/console-providers'
import type { Kysely, Selectable } from 'kysely'
import * as z from 'zod/mini'
import type { ConsoleProvidersTable } from '../../db/provider-tables.ts'
import type { Database } from '../../db/schema.ts'
import { NotFoundError } from '../errors.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import { openProvider } from '../sign-in/create-provider.ts'
import type { Provider } from '../sign-in/provider.ts'

export type ProviderRow = Selectable<ConsoleProvidersTable>

/** @throws NotFoundError */
export async function getProviderRow(db: Kysely<Database>, id: number): Promise<ProviderRow> {
  const row = await db.selectFrom('console_providers').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Provider')
  return row
}

/** Providers of stored rows, each the same while its row stays. */
export function createOpenProviders(context: { secrets: Secrets }): (row: ProviderRow) => Provider {
  const held = new Map<number, { mark: string; provider: Provider }>()
  return (row) => {
    const mark = JSON.stringify([row.issuer, row.client_id, row.client_secret])
    const known = held.get(row.id)
    if (known?.mark === mark) return known.provider
    const provider = openPlace(formOf(row), openSecret(context, row))
    held.set(row.id, { mark, provider })
    return provider
  }
}

export const rulesOf = ({ rules }: Pick<ProviderRow, 'rules'>): RoleRule[] =>
  z.array(RoleRule).parse(JSON.parse(rules))

type Place = Pick<ConsoleProviderForm, 'issuer' | 'clientId'>

export function openPlace({ issuer, clientId }: Place, secret: string): Provider {
  return openProvider({ issuer: addressOf(issuer), clientId, secret, wants: 'profile' })
}

/** Of what a person typed, like `google`. It was checked by the form. */
export const addressOf = (issuer: string) => Environment.shape.POSTERN_OIDC_ISSUER.parse(issuer) ?? issuer

/** As a form has it, without the secret. */
export function formOf(row: ProviderRow) {
  const { name, issuer, client_id: clientId, is_making_accounts } = row
  return { name, issuer, clientId, makesAccounts: is_making_accounts === 1, rules: rulesOf(row) }
}

export const openSecret = ({ secrets }: { secrets: Secrets }, row: ProviderRow) =>
  secrets.open(row.client_secret, PLACES.provider(row.id))
