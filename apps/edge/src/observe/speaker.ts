import type { PeerFigures } from '@postern/contract/edge'

export interface SpeakerOptions {
  /** ms. */
  now: () => number
  /** What there is to say now; undefined before the first look. */
  figures(): PeerFigures[] | undefined
  send(peers: PeerFigures[]): void
}

export interface Speaker {
  /** Says the figures if they are due: news at once, mere counting now and then. */
  say(): void
  /** Says them in any case, to a server that knows nothing of them. */
  sayAgain(): void
  close(): void
}

/** News of a node's state goes out at once, but not more often than this. */
const NEWS_EVERY = 1000
const FIGURES_EVERY = 4000

export function createSpeaker(options: SpeakerOptions): Speaker {
  let said = { news: '', at: Number.NEGATIVE_INFINITY }
  let later: NodeJS.Timeout | undefined

  const say = () => {
    const figures = options.figures()
    if (!figures) return
    const news = newsOf(figures)
    const isNew = news !== said.news
    const wait = said.at + (isNew ? NEWS_EVERY : FIGURES_EVERY) - options.now()
    if (wait <= 0) {
      said = { news, at: options.now() }
      options.send(figures)
    } else if (isNew) {
      later ??= setTimeout(() => {
        later = undefined
        say()
      }, wait)
    }
  }
  return {
    say,
    sayAgain() {
      said = { news: '', at: Number.NEGATIVE_INFINITY }
      say()
    },
    close: () => clearTimeout(later),
  }
}

/** What a person waits for; the rest only counts. */
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
