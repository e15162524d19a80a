import * as z from 'zod/mini'

/** What of the API may answer otherwise than before; the paths under `/api/` begin with it. */
export const HintNoun = z.enum(['nodes', 'services', 'domains', 'edges'])
export type HintNoun = z.infer<typeof HintNoun>

/** Each message of the stream of hints. It says what to read again, and nothing of what is there. */
export const Hints = z.array(HintNoun)

export const HintStreamQuery = z.strictObject({ token: z.optional(z.string()) })
