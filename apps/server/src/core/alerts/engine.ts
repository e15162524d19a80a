import { createSingleFlight, type SingleFlight } from '@postern/host/tasks'
import type { Context } from '../../context.ts'
import { newPatience, turn, writeTurn } from './evaluate.ts'
import { createCounted } from './find/figures.ts'
import { look } from './findings.ts'
import { forgetOld } from './history.ts'
import { sendWaiting } from './outbox.ts'
import { listRules } from './rules.ts'
import { tell } from './tell.ts'

/** Looks for what is wrong, and sends what people are to be told. */
export interface Alerts {
  /** Looks once, now. */
  run(): Promise<void>
  /** Sends what is due. Resolves when it was tried. */
  send(): Promise<void>
}

const LOOK_EVERY = 20_000
const FORGET_EVERY = 3_600_000
/** Edges tell of all nodes and services within this time after they connect. */
const SETTLE_MS = 60_000

export function createAlerts(context: Context): Alerts & { close(): Promise<void> } {
  const patience = newPatience()
  const readCounted = createCounted(context)
  const ending = new AbortController()
  let settlingSince: number | undefined
  let forgotten = Number.NEGATIVE_INFINITY

  function isSettled(now: number): boolean {
    const isReporting = context.edges.views().some(({ dataPlane }) => dataPlane !== null)
    if (!isReporting) settlingSince = undefined
    else settlingSince ??= now
    return settlingSince !== undefined && now - settlingSince >= SETTLE_MS
  }

  async function run(): Promise<void> {
    const now = context.clock()
    const rules = await listRules(context)
    const findings = await look(context, rules, isSettled(now), await readCounted(rules))
    const isOther = await context.db.transaction().execute(async (tx) => {
      const open = await tx
        .selectFrom('alerts')
        .select(['id', 'key', 'kind', 'rule_id', 'node_id', 'service_id'])
        .where('cleared_at', 'is', null)
        .orderBy('id')
        .execute()
      const turned = turn(findings, open, patience, now)
      await writeTurn(context, tx, turned, now)
      const isTold = await tell(context, tx)
      return isTold || [turned.begun, turned.ended, turned.dropped].some(({ length }) => length > 0)
    })
    if (isOther) context.bus.emit({ kind: 'alerts' })
    if (now - forgotten < FORGET_EVERY) return
    forgotten = now
    await forgetOld(context.db, now)
  }

  const send = () => sendWaiting(context, ending.signal)
  const runNow = (flight: SingleFlight) => {
    flight.trigger()
    return flight.idle()
  }
  const safely = (work: () => Promise<void>, what: string) => () =>
    work().catch((err: unknown) => context.log.error({ err }, what))
  const looks = createSingleFlight(safely(run, 'alerts could not be looked for'))
  const sends = createSingleFlight(safely(send, 'alerts could not be sent'))
  const timer = setInterval(() => {
    looks.trigger()
    sends.trigger()
  }, LOOK_EVERY).unref()
  // What a turn writes is sent at once.
  const stop = context.bus.listen((hint) => {
    if (hint.kind === 'alerts') sends.trigger()
  })
  return {
    run: () => runNow(looks),
    send: () => runNow(sends),
    async close() {
      ending.abort()
      clearInterval(timer)
      stop()
      looks.close()
      sends.close()
      await Promise.all([looks.idle(), sends.idle()])
    },
  }
}

/** Runs until the context ends; a message under way is sent to its end. */
export function startAlerts(context: Context): Alerts {
  const alerts = createAlerts(context)
  context.onDispose(() => alerts.close())
  return alerts
}
