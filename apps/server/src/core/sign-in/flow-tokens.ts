import { createSecrets, SecretsError } from '../secrets/secrets.ts'

/**
 * What the flow hands to itself through a browser: sealed, for a few minutes, and for one step only. Nothing of it is
 * kept, so nobody can fill the memory by beginning; with the key it ends at a restart.
 */
export interface Notes {
  seal(kind: NoteKind, seconds: number, content: object): string
  /** @returns undefined for a note of another kind, one that is too old, and whatever is none */
  open(kind: NoteKind, note: string): unknown
}

/**
 * `attempt`: in a cookie of the browser that began. `state`: through the provider. `ticket`: back to the domain.
 * `trial`: through the provider too, of an operator who tries it out.
 */
type NoteKind = 'attempt' | 'state' | 'ticket' | 'trial'

const MAX_NOTE = 8192

export function createNotes(key: Buffer, clock: () => number): Notes {
  const secrets = createSecrets(key)
  return {
    seal: (kind, seconds, content) =>
      secrets.seal(JSON.stringify({ until: clock() + seconds * 1000, content }), kind),
    open(kind, note) {
      if (note.length > MAX_NOTE) return undefined
      try {
        const { until, content } = JSON.parse(secrets.open(note, kind))
        return until > clock() ? content : undefined
      } catch (error) {
        if (error instanceof SecretsError) return undefined
        throw error
      }
    },
  }
}
