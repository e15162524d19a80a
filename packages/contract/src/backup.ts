import * as z from 'zod/mini'
import * as f from './fields.ts'

/** The copies that the server makes of its own database, as far as it knows of them. */
export const BackupState = z.object({
  /** Where they are; null: none are made. */
  directory: z.nullable(z.string()),
  /** How many are kept. */
  keep: z.number(),
  isRunning: z.boolean(),
  copies: z.number(),
  /** The newest; `bytes` of the database. */
  last: z.nullable(z.object({ name: z.string(), at: f.time, bytes: z.number() })),
  /** Of the last try, in words; null: it went well, or there was none. */
  failure: z.nullable(z.object({ at: f.time, problem: z.string() })),
})
export type BackupState = z.infer<typeof BackupState>
