import { setTimeout as delay } from 'node:timers/promises'
import { createSingleFlight } from '@postern/host/tasks'
import type { Context } from '../../context.ts'
import { createAcmeHttp } from '../acme/http.ts'
import { type Accounts, createAccounts } from './account.ts'
import { OrderGoneError } from './outcome.ts'
import { findPause, type Intake, readIntake } from './pause.ts'
import { askRenewalInfo } from './renewal-info.ts'
import { type Next, StoppedError, type Turn, takeTurn } from './turn.ts'

/** How many orders are under way at the same time; the others wait for their turn. */
const MOST_OPEN = 20
/** The longest sleep, because the clock may be set meanwhile. */
const HOUR = 3_600_000
/** Short, because the database is only busy for a moment. */
const AFTER_FAILURE = 10_000

/** Runs all orders until the context ends: continues those under way, and places those that are due. */
export async function startOrders(context: Context): Promise<void> {
  const http = createAcmeHttp(context.config.settings.POSTERN_ACME_CA_FILE)
  const accounts = createAccounts(context, http)
  const passes = createSingleFlight(() =>
    pass().catch((err: unknown) => {
      context.log.error({ err }, 'the orders of certificates could not be processed')
      sleep(AFTER_FAILURE)
    }),
  )
  const poke = passes.trigger
  const turns = createTurns(context, accounts, poke)
  let timer: NodeJS.Timeout | undefined
  let asking: Promise<void> | undefined

  async function pass(): Promise<void> {
    await endUnwanted(context, turns.running)
    await queueDue(context)
    const intake = await readIntake(context)
    for (const row of await listNext(context, turns.running, intake)) turns.begin(row, intake)
    if (intake.kind !== 'paused') askInfo()
    const wait = (await findNextTime(context)) - context.clock()
    sleep(Math.min(Math.max(wait, 50), HOUR))
  }

  /** In parallel to the orders, so that an authority that hangs delays none of them. */
  function askInfo(): void {
    asking ??= askRenewalInfo(context, accounts)
      .catch((err: unknown) => {
        context.log.error({ err }, 'no authority could be asked when to renew')
        return 0
      })
      .then((asked) => {
        asking = undefined
        if (asked > 0) poke()
      })
  }

  /** Orders under way are placed again there, and those that wait for the previous one need not. */
  async function turnToAuthority(): Promise<void> {
    await turns.end()
    await startAnew(context)
    await hastenFailed(context)
    poke()
  }

  function sleep(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(poke, ms).unref()
  }

  await startAnew(context)
  await forgetLeft(context)
  const turning = createSingleFlight(() =>
    turnToAuthority().catch((err: unknown) =>
      context.log.error({ err }, 'the orders could not go to the new authority'),
    ),
  )
  const stop = context.bus.listen((hint) => {
    if (hint.kind !== 'changed') return
    if (hint.touched.settings?.some((name) => name.startsWith('POSTERN_ACME_'))) turning.trigger()
    else if (hint.touched.domains?.length) poke()
  })
  context.onDispose(async () => {
    passes.close()
    stop()
    turning.close()
    await turning.idle()
    const ended = turns.end()
    http.close()
    await passes.idle()
    clearTimeout(timer)
    await asking
    await ended
    // One that the previous pass began.
    await turns.end()
  })
  poke()
}

interface Turns {
  readonly running: Running
  begin(next: Next, intake: Intake): void
  /** Stops all. Resolves when each has saved its progress. */
  end(): Promise<unknown>
}

/**
 * The orders under way.
 * @param poke called when one has progressed or ended
 */
function createTurns(context: Context, accounts: Accounts, poke: () => void): Turns {
  const running: Running = new Map()
  const ends = new Set<Promise<void>>()

  /** An order whose end could not be saved is not tried again at once. */
  async function endSafely(turn: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await turn
    } catch (err) {
      context.log.error({ err }, 'an order could not be ended')
      await delay(60_000, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  return {
    running,
    begin(next, intake) {
      const controller = new AbortController()
      const turn: Turn = { ...next, controller, isTrying: intake.kind === 'trying' }
      running.set(next.row.id, turn)
      const end = endSafely(takeTurn(context, accounts, turn, poke), controller.signal).finally(() => {
        running.delete(next.row.id)
        ends.delete(end)
        poke()
      })
      ends.add(end)
    },
    end() {
      for (const { controller } of running.values()) controller.abort(new StoppedError())
      return Promise.all(ends)
    },
  }
}

type Running = Map<number, Turn>

/** A previous authority's keys stay while one of its certificates is in use, because people may go back to it. */
async function forgetLeft({ db, config }: Context): Promise<void> {
  const used = await db
    .selectFrom('orders')
    .select('directory')
    .distinct()
    .where('directory', 'is not', null)
    .execute()
  const directories = [config.settings.POSTERN_ACME_DIRECTORY, ...used.map(({ directory }) => directory)]
  const kept = directories.flatMap((directory) => NAMES_OF_SETTINGS.map((name) => `${name} ${directory}`))
  await db
    .deleteFrom('settings')
    .where((eb) => eb.or(NAMES_OF_SETTINGS.map((name) => eb('key', 'like', `${name} %`))))
    .where('key', 'not in', kept)
    .execute()
}

const NAMES_OF_SETTINGS = ['acme.key', 'acme.account', 'acme.pause']

/** Certificates of another authority are ordered anew at the one in the settings; they stay in use until then. */
async function startAnew({ db, clock, config }: Context): Promise<void> {
  await db
    .updateTable('orders')
    .set({ due_at: clock(), failures: 0 })
    .where('step', 'is', null)
    .where('directory', 'is not', null)
    .where('directory', '!=', config.settings.POSTERN_ACME_DIRECTORY)
    .execute()
}

/** What failed at one authority, or with other words for it, may succeed now. */
async function hastenFailed({ db, clock }: Context): Promise<void> {
  await db
    .updateTable('orders')
    .set({ due_at: clock(), failures: 0 })
    .where('step', 'is', null)
    .where('failures', '>', 0)
    .execute()
}

async function endUnwanted({ db }: Context, running: Running): Promise<void> {
  if (running.size === 0) return
  const there = await db
    .selectFrom('orders')
    .select('id')
    .where('id', 'in', [...running.keys()])
    .execute()
  const left = new Set(there.map(({ id }) => id))
  for (const [id, { controller }] of running) if (!left.has(id)) controller.abort(new OrderGoneError())
}

async function queueDue({ db, bus, clock }: Context): Promise<void> {
  const due = await db
    .updateTable('orders')
    .set({ step: 'queued' })
    .where('step', 'is', null)
    .where('due_at', '<=', clock())
    .returning('domain_id')
    .execute()
  if (due.length > 0) bus.emit({ kind: 'ordered', domains: due.map(({ domain_id }) => domain_id) })
}

/** Placed ones first: after a restart they continue. */
async function listNext({ db }: Context, running: Running, { kind }: Intake): Promise<Next[]> {
  const isTried = kind === 'trying' && [...running.values()].some(({ isTrying }) => isTrying)
  const room = isTried ? 0 : Math.min(MOST_OPEN - running.size, kind === 'trying' ? 1 : MOST_OPEN)
  if (room <= 0) return []
  const rows = await db
    .selectFrom('orders')
    .innerJoin('domains', 'domains.id', 'orders.domain_id')
    .selectAll('orders')
    .select('domain')
    .where('step', 'is not', null)
    .$if(kind === 'paused', (query) => query.where('step', '!=', 'queued').where('url', 'is not', null))
    .$if(running.size > 0, (query) => query.where('orders.id', 'not in', [...running.keys()]))
    .orderBy(({ eb }) => eb('url', 'is', null))
    .orderBy('due_at')
    .orderBy('orders.id')
    .limit(room)
    .execute()
  return rows.map(({ domain, ...row }) => ({ row, domain }))
}

/** The questions about renewals are already under way. */
async function findNextTime(context: Context): Promise<number> {
  const { db, clock } = context
  const order = await db
    .selectFrom('orders')
    .select('due_at')
    .where('step', 'is', null)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
  const info = await db
    .selectFrom('orders')
    .select('info_at')
    .where('info_at', '>', clock())
    .where('step', 'is', null)
    .orderBy('info_at')
    .limit(1)
    .executeTakeFirst()
  const pause = await findPause(context)
  const times = [order?.due_at, info?.info_at, pause?.until].filter((time) => typeof time === 'number')
  return Math.min(clock() + HOUR, ...times)
}
