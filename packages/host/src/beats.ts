/** A program's sign to its starter that it does not hang. */
export const BEAT = { type: 'beat' } as const
const BEAT_EVERY = 1000
/** So many of the starter's own seconds without a beat mean that a program hangs; a busy one is only late. */
export const MOST_MISSED = 10

/** Tells the starter each second that this program's one thread still turns. Without a starter nothing happens. */
export function startBeats(): void {
  if (!process.send) return
  const beat = () => {
    // A starter that has just died is heard of by `disconnect`.
    if (process.connected) process.send?.(BEAT, undefined, undefined, () => undefined)
  }
  // At once, since one that never beat is left alone.
  beat()
  setInterval(beat, BEAT_EVERY).unref()
}

export function isBeat(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === BEAT.type
}
