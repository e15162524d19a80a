import type { Fields } from '@postern/contract/history/history'
import { PersonForm } from '@postern/contract/people/people'
import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import type { Undone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { PERSON_ONLY } from '../access/access.ts'
import { ConflictError, ForbiddenError, quoted } from '../errors.ts'
import { createPatch } from '../patch.ts'
import { getPerson, setPersonEnabled, updatePerson } from '../people/people.ts'
import { fieldsBefore, idOf } from './since.ts'

/** Name, role and limits of a person, or that they were disabled or enabled. */
export async function undoPerson(context: Context, actor: Actor, record: Undone): Promise<void> {
  // As for every endpoint about people.
  if (actor.kind === 'token') throw new ForbiddenError(PERSON_ONLY, 'kind')
  const id = idOf(record)
  const { username, role, reach, reachNames, state, updated_at } = await getPerson(context, id)
  const current = {
    ...{ username, role },
    isLimited: reach !== null,
    isDisabled: state === 'disabled',
    nodes: reachNames?.nodes ?? [],
    domains: reachNames?.domains ?? [],
  }
  const { isLimited, isDisabled, nodes, domains, ...fields }: Fields = await fieldsBefore(
    context,
    record,
    current,
  )
  if (isDisabled !== undefined) return void (await setPersonEnabled(context, actor, id, isDisabled === false))
  const limits = async () => ({
    nodes: await findIds(context.db, 'nodes', namesOf(nodes ?? current.nodes)),
    domains: await findIds(context.db, 'domains', namesOf(domains ?? current.domains)),
  })
  const isOther = [isLimited, nodes, domains].some((value) => value !== undefined)
  const isNarrowed = isLimited ?? current.isLimited
  const form = { ...fields, ...(isOther && { reach: isNarrowed === true ? await limits() : null }) }
  await updatePerson(context, actor, id, createPatch(PersonForm, form, updated_at))
}

const namesOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])

/** @throws ConflictError for a name that is gone, or that several have */
async function findIds(
  db: Kysely<Database>,
  table: 'nodes' | 'domains',
  names: readonly string[],
): Promise<number[]> {
  const rows =
    table === 'nodes'
      ? await db.selectFrom('nodes').select(['id', 'name']).where('name', 'in', names).execute()
      : await db.selectFrom('domains').select(['id', 'domain as name']).where('domain', 'in', names).execute()
  return names.map((name) => {
    const [found, other] = rows.filter((row) => row.name === name)
    if (!found || other)
      throw new ConflictError(`Not exactly one is called ${quoted(name)} now, so this cannot be taken back`)
    return found.id
  })
}
