import * as z from 'zod/mini'
import * as f from '../fields.ts'

/** Nobody is told of a muted thing. `until` null: until a person unmutes it. */
export const Mute = z.nullable(z.object({ until: z.nullable(f.time) }))
export type Mute = z.infer<typeof Mute>

export const MuteForm = z.strictObject({ until: f.blankable(f.instant) })
export type MuteForm = z.infer<typeof MuteForm>
