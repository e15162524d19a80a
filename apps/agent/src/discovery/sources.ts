import { networkInterfaces } from 'node:os'
import type { Log } from '../io.ts'
import { followDocker } from './docker.ts'
import { createEngine, type EngineAddress } from './engine.ts'
import { followFile } from './file.ts'
import type { Offer } from './offer.ts'
import type { Published } from './published.ts'
import { createPublisher, type Publisher } from './publisher.ts'

/** The sources of this node's services, besides people in the console. */
export interface SourceSettings {
  docker: EngineAddress | undefined
  publishFile: string | undefined
}

export interface SourceOptions {
  send(source: string, services: readonly Offer[]): Promise<Published[]>
  /** The networks behind this node, as set in the console; undefined: not known yet, null: it is no gateway. */
  getNetworks(): readonly string[] | null | undefined
  onChange(): void
  log: Log
  random(): number
}

/** Reads the sources, and sends their services to the server. */
export interface Sources {
  services(): Published[]
  problems(): string[]
  /** The agent is connected to the server again. */
  sendAgain(): void
  /** Something changed on the server. */
  hint(): void
  /** Runs until the signal. Published services stay. */
  run(signal: AbortSignal): Promise<void>
}

export function createSources(settings: SourceSettings, options: SourceOptions): Sources {
  const publishers: Publisher[] = []
  const followers: ((signal: AbortSignal) => Promise<void>)[] = []

  function add(source: string, follow: (publisher: Publisher, signal: AbortSignal) => Promise<void>): void {
    const publisher = createPublisher({ ...options, source })
    publishers.push(publisher)
    followers.push((signal) => follow(publisher, signal), publisher.run)
  }

  const { docker, publishFile } = settings
  if (docker)
    add('docker', ({ offer, fail }, signal) => {
      const { random, getNetworks } = options
      const engine = createEngine(docker)
      return followDocker(
        { engine, listOwnCidrs, getNetworks, onOffers: offer, onFailure: fail, random },
        signal,
      )
    })
  if (publishFile !== undefined)
    add('file', ({ offer, fail }, signal) =>
      followFile({ path: publishFile, onOffers: offer, onFailure: fail }, signal),
    )

  return {
    services: () => publishers.flatMap((publisher) => publisher.services()),
    problems: () => publishers.flatMap((publisher) => publisher.problems()),
    sendAgain() {
      for (const publisher of publishers) publisher.sendAgain()
    },
    hint() {
      for (const publisher of publishers) publisher.hint()
    },
    run: async (signal) => void (await Promise.all(followers.map((follow) => follow(signal)))),
  }
}

/** This machine's addresses with their prefix lengths. */
function listOwnCidrs(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).flatMap(({ cidr }) => cidr ?? []))
}
