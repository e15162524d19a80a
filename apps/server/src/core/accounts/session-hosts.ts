import { findIp } from '@postern/net/ip'
import type { Context } from '../../context.ts'
import { findConsoleDomain } from '../services/http.ts'
import { removeSession } from './sessions.ts'

/** @param host of a request, with its port. @returns the name, or '' for an address, which no service ever gets */
export function nameOf(host: string): string {
  const name = host.toLowerCase().replace(/\.?(:\d+)?$/, '')
  const isAddress = name === 'localhost' || findIp(name.replace(/^\[|\]$/g, '')) !== undefined
  return isAddress ? '' : name
}

/**
 * Whoever has a name next gets what browsers kept for it. A session ends as soon as the name at which it began is the
 * console's no more.
 */
export async function endSessionsElsewhere(context: Context): Promise<void> {
  const names = ['', ...context.config.ownHosts, (await findConsoleDomain(context.db)) ?? '']
  const sessions = await context.db
    .selectFrom('sessions')
    .select('id')
    .where('host', 'not in', names)
    .execute()
  for (const { id } of sessions) await removeSession(context, id)
}

/** Does so now, and whenever the console may have another name. */
export async function followConsole(context: Context): Promise<void> {
  await endSessionsElsewhere(context)
  const stop = context.bus.listen((hint) => {
    if (hint.kind !== 'changed') return
    const { services, domains, settings } = hint.touched
    if (!(services || domains || settings)) return
    endSessionsElsewhere(context).catch((err: unknown) =>
      context.log.error({ err }, 'sessions of a previous name of the console could not be ended'),
    )
  })
  context.onDispose(stop)
}
