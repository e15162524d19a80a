import { setTimeout as pause } from 'node:timers/promises'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createBell } from '@postern/host/tasks'
import { offerContainers } from './containers.ts'
import type { Engine } from './engine.ts'
import type { Offers } from './offer.ts'

export interface DockerOptions {
  engine: Engine
  /** This container's own addresses, with prefix lengths, by which it finds the networks it is in. */
  listOwnCidrs(): string[]
  /** The networks behind this node, as set in the console; undefined: not known yet, null: it is no gateway. */
  getNetworks(): readonly string[] | null | undefined
  /** A reading succeeded. */
  onOffers(offers: Offers): void
  /** It failed: the last offer stays valid. */
  onFailure(problem: string): void
  random(): number
}

/** A lost event costs a minute, never correctness. */
const CHECK_INTERVAL = 60_000
/** `docker compose up` makes many events: one reading for all of them, at the latest after the second time. */
const SETTLED = 500
const MOST_UNSETTLED = 3000

/** Reads Docker's containers when something happens to one, and each minute, until the signal. */
export async function followDocker(options: DockerOptions, signal: AbortSignal): Promise<void> {
  const bell = createBell({ quiet: SETTLED, most: MOST_UNSETTLED })
  const events = followEvents(options, () => bell.ring(), signal)
  const retry = createBackoff({ first: 1000, most: CHECK_INTERVAL, random: options.random })
  while (!signal.aborted) {
    const isDone = await look(options)
    if (isDone) retry.reset()
    await bell.next(isDone ? CHECK_INTERVAL : retry.next(), signal)
  }
  await events
}

async function look({ engine, onOffers, onFailure, ...own }: DockerOptions): Promise<boolean> {
  try {
    const containers = await engine.listContainers()
    onOffers(offerContainers(containers, { cidrs: own.listOwnCidrs(), networks: own.getNetworks() }))
    return true
  } catch (error) {
    onFailure(messageOf(error))
    return false
  }
}

async function followEvents(
  { engine, random }: DockerOptions,
  onEvent: () => void,
  signal: AbortSignal,
): Promise<void> {
  const lost = createBackoff({ first: 1000, most: CHECK_INTERVAL, random })
  while (!signal.aborted) {
    const since = performance.now()
    // The reading fails too, and reports why.
    await engine.follow(onEvent, signal).catch(() => undefined)
    // So that an engine that ends each connection at once is not asked in a loop.
    if (performance.now() - since > CHECK_INTERVAL) lost.reset()
    await pause(lost.next(), undefined, { signal }).catch(() => undefined)
  }
}
