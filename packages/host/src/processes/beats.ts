/** How a program shows its starter that it does not hang. */
export const BEAT = { type: 'beat' } as const
const BEAT_EVERY = 1000
/** A program hangs when the starter counts so many of its own seconds without a beat; a busy one is only late. */
export const MOST_MISSED = 10

/** Tells the starter each second that this program's event loop still turns. Without a starter nothing happens. */
export function startBeats(): void {
  if (!process.send) return
  const beat = () => {
    // The end of the starter shows as `disconnect`.
    if (process.connected) process.send?.(BEAT, undefined, undefined, () => undefined)
  }
  // At once, since the starter ignores programs that have never sent a beat.
  beat()
  setInterval(beat, BEAT_EVERY).unref()
}

export function isBeat(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === BEAT.type
}
