import type { Channel, ChannelForm, ChannelKind } from '@postern/contract/alerts/channels'
import { LIMITS } from '@postern/contract/limits'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { AlertChannelsTable } from '../../db/alert-tables.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { PERSON_ONLY } from '../access/access.ts'
import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import {
  ChannelSecrets,
  ChannelSettings,
  type OpenChannel,
  settingsOf,
  settleSecrets,
} from './channel-secrets.ts'

type Row = Selectable<AlertChannelsTable>
type Db = Kysely<Database> | Transaction<Database>

/** In order of creation. There are few. */
export async function listChannels({ db, secrets }: Context): Promise<Channel[]> {
  const rows = await db.selectFrom('alert_channels').selectAll().orderBy('id').execute()
  const last = await readLast(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => toChannel(secrets, row, last.get(row.id)))
}

/** @throws NotFoundError */
export async function getChannel({ db, secrets }: Context, id: number): Promise<Channel> {
  const row = await getRow(db, id)
  return toChannel(secrets, row, (await readLast(db, [id])).get(id))
}

/** @throws ValidationError, ConflictError */
export async function createChannel(
  context: Context,
  actor: Actor,
  patch: Patch<ChannelForm>,
): Promise<Channel> {
  const form = patch.onto({})
  refuseProgram(actor, form.kind)
  const { secrets, errors } = settleSecrets(form, undefined)
  if (errors.length > 0) throw new ValidationError(errors)
  const now = new Date(context.clock()).toISOString()
  const id = await change(context, { actor, what: 'alert channel created' }, async (tx) => {
    await requireRoom(tx)
    const { id } = await tx
      .insertInto('alert_channels')
      .values({ kind: form.kind, ...columnsOf(form, secrets), secrets: '', created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    // Bound to the row, whose id is known only now.
    await tx
      .updateTable('alert_channels')
      .set({ secrets: seal(context.secrets, id, secrets) })
      .where('id', '=', id)
      .execute()
    return { value: id, touched: {}, name: form.name }
  })
  context.bus.emit({ kind: 'alerts' })
  return await getChannel(context, id)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateChannel(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<ChannelForm>,
): Promise<Channel> {
  await change(context, { actor, what: 'alert channel updated' }, async (tx) => {
    const row = await getRow(tx, id)
    refuseProgram(actor, row.kind)
    const held = openRow(context.secrets, row)
    const form = patch.onto(formOf(row, held), row.updated_at)
    if (form.kind !== row.kind) throw new ValidationError([{ field: 'kind', message: 'cannot be changed' }])
    const { secrets, errors } = settleSecrets(form, held)
    if (errors.length > 0) throw new ValidationError(errors)
    await tx
      .updateTable('alert_channels')
      .set({
        ...columnsOf(form, secrets),
        // Sealed anew it would look as if it had changed.
        ...(JSON.stringify(secrets) !== JSON.stringify(held.secrets) && {
          secrets: seal(context.secrets, id, secrets),
        }),
        updated_at: nextTime(context.clock(), row.updated_at),
      })
      .where('id', '=', id)
      .execute()
    return { value: undefined, touched: {}, name: form.name }
  })
  context.bus.emit({ kind: 'alerts' })
  return await getChannel(context, id)
}

/** By e-mail links for people are sent, too. @throws ForbiddenError */
function refuseProgram(actor: Actor, kind: ChannelKind): void {
  if (actor.kind === 'token' && kind === 'email') throw new ForbiddenError(PERSON_ONLY, 'kind')
}

/** What waits for it is not sent any more. @throws NotFoundError */
export async function removeChannel(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  await change(context, { actor, what: 'alert channel deleted' }, async (tx) => {
    const { name, kind } = await getRow(tx, id)
    refuseProgram(actor, kind)
    await tx
      .updateTable('alert_deliveries')
      .set({ status: 'failed', problem: 'The channel was deleted.' })
      .where('channel_id', '=', id)
      .where('status', '=', 'waiting')
      .execute()
    await tx.deleteFrom('alert_channels').where('id', '=', id).execute()
    return { value: undefined, touched: {}, name }
  })
  context.bus.emit({ kind: 'alerts' })
  return { id }
}

/** The channel that a form describes, with the stored secrets of the one with this id. @throws ValidationError */
export async function openForm(
  { db, secrets: keys }: Context,
  form: ChannelForm,
  id: number | null,
): Promise<OpenChannel> {
  const row = id === null ? undefined : await getRow(db, id)
  const held = row && row.kind === form.kind ? openRow(keys, row) : undefined
  const { secrets, errors } = settleSecrets(form, held)
  if (errors.length > 0)
    throw new ValidationError(errors.map(({ field, message }) => ({ field: `channel.${field}`, message })))
  return { ...settingsOf(form, secrets), kind: form.kind, secrets }
}

/** @returns undefined when it was deleted or is disabled */
export async function findOpenChannel(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  id: number,
): Promise<OpenChannel | undefined> {
  const row = await db
    .selectFrom('alert_channels')
    .selectAll()
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  return row && openRow(secrets, row)
}

/** The first one for e-mail that is enabled. */
export async function findMailChannel({
  db,
  secrets,
}: Pick<Context, 'db' | 'secrets'>): Promise<OpenChannel | undefined> {
  const row = await db
    .selectFrom('alert_channels')
    .selectAll()
    .where('kind', '=', 'email')
    .where('enabled', '=', 1)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && openRow(secrets, row)
}

async function getRow(db: Db, id: number): Promise<Row> {
  const row = await db.selectFrom('alert_channels').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Channel')
  return row
}

async function requireRoom(tx: Db): Promise<void> {
  const held = await tx.selectFrom('alert_channels').select('id').execute()
  if (held.length >= LIMITS.alertChannels)
    throw new ConflictError(`There are ${held.length} channels, which is the limit. Delete one first.`)
}

function columnsOf(form: ChannelForm, secrets: ChannelSecrets) {
  return {
    name: form.name,
    enabled: flag(form.enabled),
    settings: JSON.stringify(settingsOf(form, secrets)),
  }
}

const seal = (keys: Secrets, id: number, secrets: ChannelSecrets) =>
  keys.seal(JSON.stringify(secrets), PLACES.channel(id))

/** The row's JSON was written by this server in these forms. */
function openRow(keys: Secrets, { id, kind, settings, secrets }: Row): OpenChannel {
  return {
    ...ChannelSettings.parse(JSON.parse(settings)),
    kind,
    secrets: ChannelSecrets.parse(JSON.parse(keys.open(secrets, PLACES.channel(id)))),
  }
}

/** The form over which a patch is laid: it keeps the stored secrets. */
function formOf({ name, enabled }: Row, { secrets: _, ...open }: OpenChannel): Record<string, unknown> {
  const { place: _place, ...settings } = { place: '', ...open }
  return { ...settings, name, enabled: enabled === 1 }
}

function toChannel(keys: Secrets, row: Row, last: Channel['last'] | undefined): Channel {
  const { id, kind, name, created_at, updated_at } = row
  const held = openRow(keys, row)
  const settings = ChannelSettings.parse(JSON.parse(row.settings))
  const secrets = (['password', 'url', 'signingSecret', 'token'] as const).filter(
    (key) => key in held.secrets,
  )
  const enabled = row.enabled === 1
  return { id, kind, name, enabled, ...settings, secrets, last: last ?? null, created_at, updated_at }
}

/** The newest message to each that was tried. */
async function readLast(db: Db, ids: readonly number[]): Promise<Map<number, Channel['last']>> {
  const newest = db
    .selectFrom('alert_deliveries')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('channel_id', 'in', ids)
    .where('attempts', '>', 0)
    .groupBy('channel_id')
  const rows = await db
    .selectFrom('alert_deliveries')
    .select(['channel_id', 'at', 'sent_at', 'problem', 'status'])
    .where('id', 'in', newest)
    .execute()
  return new Map(
    rows.flatMap(({ channel_id, at, sent_at, problem, status }) =>
      channel_id === null
        ? []
        : [
            [
              channel_id,
              { at: new Date(sent_at ?? at).toISOString(), problem: status === 'sent' ? null : problem },
            ] as const,
          ],
    ),
  )
}
