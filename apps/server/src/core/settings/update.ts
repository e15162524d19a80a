import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import {
  CONSOLE_SETTINGS,
  type ConsoleSetting,
  findLock,
  groupOf,
  type InstallationSettings,
  isConsoleSetting,
  isSecretSetting,
  isSignInSetting,
  type SettingsForm,
} from '@postern/contract/settings/console-settings'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { ChangeRecord } from '../../changes/records.ts'
import type { Context } from '../../context.ts'
import { notePublicHost } from '../domains/used-names.ts'
import { ConflictError, ForbiddenError, refuseFindings } from '../errors.ts'
import type { Patch, Readable } from '../patch.ts'
import type { Chosen, LiveSettings } from './live-settings.ts'
import { findAuthorityFaults, findProviderFaults } from './outside.ts'
import { findHostFaults, findKnownFaults, formerHostsAfter } from './public-host.ts'
import { readSettings } from './records.ts'

/**
 * Changes settings, which are in force as soon as this has answered.
 * @throws ValidationError with all problems, including a name that does not lead here, and a provider or an authority
 * that does not answer; ConflictError; ForbiddenError for a program that changes how people sign in
 */
export async function updateSettings(
  context: Context,
  actor: Actor,
  patch: Patch<SettingsForm>,
): Promise<InstallationSettings> {
  const { liveSettings } = context
  const before = await liveSettings.read(context.db)
  const current = formOf(liveSettings, before)
  const { values, errors } = readPatch(patch, current, before)
  const invalid = [...errors, ...findOwnFaults(context, current, values, patch)]
  refuseFindings({ invalid: onePerField(invalid), taken: [] })
  // Every field has been read, or the errors were thrown.
  const form = values as SettingsForm
  const changed = CONSOLE_SETTINGS.filter((name) => current[name] !== form[name])
  const isLeaving = form.formerHosts.length !== before.formerHosts.length
  refuseSignIn(actor, [...changed, ...(isLeaving ? ['formerHosts' as const] : [])])
  const next = await makeNext(context, before, form, actor)
  if (changed.length === 0 && next.formerHosts.length === before.formerHosts.length)
    return await readSettings(context)
  refuseFindings(await findFaults(context, next, changed, form.confirmPublicHost))
  const moved = findMove(context, next, form.confirmPublicHost)
  await change(context, { actor, what: 'settings updated' }, async (tx, revision) => {
    const now = await liveSettings.read(tx)
    if (now.updatedAt !== before.updatedAt) throw stale(now)
    // While name servers were asked, a service may have got the name.
    if (moved) refuseFindings(await findKnownFaults(tx, moved))
    await liveSettings.save(tx, revision, next)
    await notePublicHost(tx, liveSettings.preview(next).publicHost)
    const name = changed.length > 0 ? changed.join(', ') : 'former names'
    return { value: undefined, touched: { settings: changed }, name, records: recordsOf(now, next) }
  })
  return await readSettings(context)
}

/** A token that leaks must not become a way in for people. @throws ForbiddenError */
function refuseSignIn({ kind }: Actor, changed: readonly (ConsoleSetting | 'formerHosts')[]): void {
  const isRefused = (name: (typeof changed)[number]) => name === 'formerHosts' || isSignInSetting(name)
  const refused = kind === 'token' ? changed.filter(isRefused) : []
  if (refused.length === 0) return
  const message = 'Only a person who is signed in can change this, and no API token'
  throw new ForbiddenError(
    message,
    'kind',
    refused.map((field) => ({ field, message })),
  )
}

/** Their values, but of secrets only that they changed. */
function recordsOf(before: Chosen, after: Chosen): ChangeRecord[] {
  const names = new Set([...Object.keys(before.values), ...Object.keys(after.values)])
  const one = (name: string, was: unknown, is: unknown): ChangeRecord => ({
    ...{ kind: 'setting', id: null, nodeId: null, domainId: null, name },
    before: { value: was },
    after: { value: is },
  })
  const texts = [...names].flatMap((name) => {
    const [was, is] = [before.values[name] ?? null, after.values[name] ?? null]
    if (was === is) return []
    // A name that a newer version had may be that of a secret.
    const isOpen = isConsoleSetting(name) && !isSecretSetting(name)
    return [isOpen ? one(name, was, is) : one(name, was && 'set', is && 'changed')]
  })
  const [was, is] = [before.formerHosts, after.formerHosts]
  return was.join() === is.join() ? texts : [...texts, one('formerHosts', was, is)]
}

type Texts = Record<ConsoleSetting, string | null>

/** What is in force of it, so that a value that cannot be is asked for anew. */
function formOf({ state }: LiveSettings, { formerHosts }: Chosen): Texts & SettingsForm {
  // One entry for each name of the list.
  const texts = Object.fromEntries(
    CONSOLE_SETTINGS.map((name) => [name, state.chosen[name] ?? null]),
  ) as Texts
  return { ...texts, formerHosts, confirmPublicHost: false }
}

function readPatch(patch: Patch<SettingsForm>, current: object, before: Chosen) {
  try {
    return patch.read({ ...current }, before.updatedAt)
  } catch (error) {
    if (error instanceof ConflictError && error.code === 'stale') throw stale(before)
    throw error
  }
}

function stale({ updatedBy }: Chosen): ConflictError {
  return new ConflictError(`${updatedBy ?? 'Someone else'} changed this while you were editing`, [], 'stale')
}

/** What is wrong by itself: nothing outside is asked. */
function findOwnFaults(
  { config }: Context,
  current: Texts & SettingsForm,
  form: Readable<SettingsForm>,
  patch: Pick<Patch<SettingsForm>, 'has'>,
): FieldError[] {
  const isChanged = (name: ConsoleSetting) => form[name] !== undefined && form[name] !== current[name]
  const faults = CONSOLE_SETTINGS.flatMap((field): FieldError[] => {
    const lock = findLock(field, config.given)
    if (lock) return isChanged(field) ? [{ field, message: `${lock} in the environment sets this` }] : []
    const others = groupOf(field).filter((other) => other !== field)
    if (form[field] === null && others.some((other) => form[other]))
      return [{ field, message: MESSAGES.required }]
    // A secret is for one provider, or one account: it must not go to another.
    const isLeft = LEAVES[field]?.some(isChanged) && form[field] && !patch.has(field)
    return isLeft ? [{ field, message: ENTER_ANEW }] : []
  })
  const added = (form.formerHosts ?? []).some((host) => !current.formerHosts.includes(host))
  return [...faults, ...(added ? [{ field: 'formerHosts', message: 'can only be removed' }] : [])]
}

const LEAVES: Partial<Record<ConsoleSetting, readonly ConsoleSetting[]>> = {
  POSTERN_OIDC_CLIENT_SECRET: ['POSTERN_OIDC_ISSUER'],
  POSTERN_ACME_EAB_HMAC: ['POSTERN_ACME_DIRECTORY', 'POSTERN_ACME_EAB_KID'],
}
const ENTER_ANEW = 'Enter it again: the one that is stored belongs to the previous one'

function onePerField(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.toReversed().map((error) => [error.field, error])).values()].toReversed()
}

async function makeNext(context: Context, before: Chosen, form: SettingsForm, actor: Actor): Promise<Chosen> {
  const { liveSettings, config } = context
  const values = { ...before.values }
  for (const name of CONSOLE_SETTINGS) {
    const text = form[name]
    // What the environment hides is back when it does so no more.
    if (findLock(name, config.given)) continue
    if (text === null) delete values[name]
    else values[name] = text
  }
  const kept = before.formerHosts.filter((host) => form.formerHosts.includes(host))
  const next = {
    values,
    formerHosts: kept,
    updatedAt: nextTime(context.clock(), before.updatedAt),
    updatedBy: actor.name,
  }
  const { publicHost } = liveSettings.preview(next)
  return { ...next, formerHosts: formerHostsAfter(context, publicHost, kept) }
}

/** Where the installation moves to; undefined: it stays. */
function findMove({ liveSettings, config }: Context, next: Chosen, isConfirmed: boolean) {
  const { publicHost: host } = liveSettings.preview(next)
  return host === config.publicHost ? undefined : { host, formerHosts: next.formerHosts, isConfirmed }
}

async function findFaults(
  context: Context,
  next: Chosen,
  changed: readonly ConsoleSetting[],
  isConfirmed: boolean,
) {
  const { settings } = context.liveSettings.preview(next)
  const has = (part: string) => changed.some((name) => name.startsWith(part))
  const wanted = findMove(context, next, isConfirmed)
  const [host, provider, authority] = await Promise.all([
    wanted ? findHostFaults(context, wanted) : { invalid: [], taken: [] },
    has('POSTERN_OIDC_') ? findProviderFaults(settings) : [],
    has('POSTERN_ACME_') ? findAuthorityFaults(settings, context.clock) : [],
  ])
  return { invalid: [...host.invalid, ...provider, ...authority], taken: host.taken }
}
