import { createSingleFlight, type SingleFlight } from '@postern/host/tasks'
import type { Hint, LiveBus } from '../../changes/live.ts'

/** A state that several readers may follow at once; it is computed once for all of them. */
export interface Topic {
  /** Equal keys mean the same state. */
  key: string
  /** Whether a hint may have changed it. */
  concerns(hint: Hint): boolean
  /** The state as JSON; undefined when it no longer exists, which ends the following. */
  compute(): Promise<string | undefined>
}

export interface Follower {
  /** While true, nothing is sent; the reader calls `resume` when it can take more. */
  readonly isBusy: boolean
  send(json: string): void
  end(): void
}

export interface Following {
  /** The reader can take more: it gets the newest state, if it has missed it. */
  resume(): void
  stop(): void
}

export interface Feeds {
  follow(topic: Topic, follower: Follower): Following
}

/** A follower gets changes at most this often; the first after a quiet time comes at once. */
const GAP_MS = 250

interface Feed {
  topic: Topic
  /** Each follower with what it got last. */
  followers: Map<Follower, string | undefined>
  refreshing: SingleFlight
  json: string | undefined
}

export function createFeeds(bus: LiveBus, onError: (error: unknown) => void): Feeds {
  const feeds = new Map<string, Feed>()
  bus.listen((hint) => {
    for (const feed of feeds.values()) if (feed.topic.concerns(hint)) feed.refreshing.trigger()
  })
  const open = (topic: Topic): Feed => {
    const feed: Feed = {
      topic,
      followers: new Map(),
      refreshing: createSingleFlight(() => refresh(feed).catch(onError), GAP_MS),
      json: undefined,
    }
    feeds.set(topic.key, feed)
    return feed
  }
  return {
    follow(topic, follower) {
      const feed = feeds.get(topic.key) ?? open(topic)
      feed.followers.set(follower, undefined)
      deliver(feed, follower)
      feed.refreshing.trigger()
      return {
        resume: () => deliver(feed, follower),
        stop() {
          feed.followers.delete(follower)
          if (feed.followers.size > 0 || feeds.get(topic.key) !== feed) return
          feed.refreshing.close()
          feeds.delete(topic.key)
        },
      }
    },
  }
}

async function refresh(feed: Feed): Promise<void> {
  const json = await feed.topic.compute()
  feed.json = json
  for (const follower of [...feed.followers.keys()]) {
    if (json === undefined) follower.end()
    else deliver(feed, follower)
  }
}

function deliver(feed: Feed, follower: Follower): void {
  const { json, followers } = feed
  if (json === undefined || !followers.has(follower) || follower.isBusy) return
  if (followers.get(follower) === json) return
  followers.set(follower, json)
  follower.send(json)
}
