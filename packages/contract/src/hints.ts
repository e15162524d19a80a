import * as z from 'zod/mini'

/** The parts of the API that may now answer differently; the paths under `/api/` begin with these words. */
export const HintNoun = z.enum([
  'nodes',
  'services',
  'domains',
  'edges',
  'config',
  'settings',
  'alerts',
  'people',
  'account',
  'auth',
])
export type HintNoun = z.infer<typeof HintNoun>

/** A message of the stream of hints. It says what to read again, without any data. */
export const Hints = z.array(HintNoun)

export const HintStreamQuery = z.strictObject({ token: z.optional(z.string()) })
