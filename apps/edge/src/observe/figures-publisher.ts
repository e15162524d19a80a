import type { PeerFigures } from '@postern/contract/edge/edge-messages'

export interface FiguresPublisherOptions {
  /** ms. */
  now: () => number
  /** The figures now; undefined before the first observation. */
  figures(): PeerFigures[] | undefined
  send(peers: PeerFigures[]): void
}

export interface FiguresPublisher {
  /** Sends the figures if they are due: a node's new state at once, mere counters now and then. */
  publish(): void
  /** Sends them in any case, to a server that has none. */
  publishAgain(): void
  close(): void
}

/** A node's new state is sent at once, but not more often than this. */
const NEWS_EVERY = 1000
const FIGURES_EVERY = 4000

export function createFiguresPublisher(options: FiguresPublisherOptions): FiguresPublisher {
  let sent = { news: '', at: Number.NEGATIVE_INFINITY }
  let later: NodeJS.Timeout | undefined

  const publish = () => {
    const figures = options.figures()
    if (!figures) return
    const news = newsOf(figures)
    const isNew = news !== sent.news
    const wait = sent.at + (isNew ? NEWS_EVERY : FIGURES_EVERY) - options.now()
    if (wait <= 0) {
      sent = { news, at: options.now() }
      options.send(figures)
    } else if (isNew) {
      later ??= setTimeout(() => {
        later = undefined
        publish()
      }, wait)
    }
  }
  return {
    publish,
    publishAgain() {
      sent = { news: '', at: Number.NEGATIVE_INFINITY }
      publish()
    },
    close: () => clearTimeout(later),
  }
}

/** The parts that a person waits for; the rest are counters. */
function newsOf(figures: readonly PeerFigures[]): string {
  return JSON.stringify(
    figures.map(({ nodeId, reachable, clientIp, latestHandshake }) => [
      nodeId,
      reachable,
      clientIp,
      latestHandshake === null,
    ]),
  )
}
