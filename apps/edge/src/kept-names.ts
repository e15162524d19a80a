import { findText, writeAtomic } from '@postern/host/files'
import { createSingleFlight } from '@postern/host/tasks'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import type { Answered, Names } from './names.ts'

/** The last answers on disk, so that a restarted edge needs no name server to continue. */
export interface KeptNames {
  find(): Promise<Answered[]>
  /** Writes the present answers. */
  save(names: Pick<Names, 'answers'>): void
  /** Resolves when nothing is being written. */
  close(): Promise<void>
}

const File = z.array(
  z.object({
    query: z.object({
      name: z.string(),
      server: z.nullable(z.string()),
      families: z.array(z.union([z.literal(4), z.literal(6)])),
    }),
    addresses: z.array(z.string()),
  }),
)

/** @param path its directory exists */
export function createKeptNames(path: string, log: Logger): KeptNames {
  let answers: Answered[] = []
  const saving = createSingleFlight(async () => {
    await writeAtomic(path, JSON.stringify(answers), 0o600).catch((err: unknown) =>
      log.warn({ err }, 'the addresses of names cannot be saved'),
    )
  })
  return {
    async find() {
      try {
        const text = await findText(path)
        return text === undefined ? [] : File.parse(JSON.parse(text))
      } catch (err) {
        log.warn({ err }, 'the addresses of names from the last run cannot be used')
        return []
      }
    },
    save(names) {
      answers = names.answers()
      saving.trigger()
    },
    close: async () => await saving.idle(),
  }
}
