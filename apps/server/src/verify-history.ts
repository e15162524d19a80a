import { messageOf } from '@postern/host/errors'
import { exitCodeOf, UsageError } from '@postern/host/flags'
import { verifyChain } from './changes/verify.ts'
import { readConfig } from './config.ts'
import { openForReading } from './db/open.ts'
import { observeNetwork } from './network.ts'

/**
 * `npm run history -- verify`, and the package's `history verify`, run it as the server's user, also while a server
 * runs. With the hash of an export's head it also says whether the history still has that entry.
 */
async function main([hash, ...more]: readonly string[]): Promise<void> {
  if (more.length > 0 || (hash !== undefined && !/^[0-9a-f]{64}$/.test(hash)))
    throw new UsageError('give nothing, or the one hash of an export: 64 digits of 0-9 and a-f')
  process.umask(0o077)
  const db = openForReading(readConfig(observeNetwork()).paths.database)
  try {
    // One look at all of it, whatever is written meanwhile.
    await db.transaction().execute(async (tx) => {
      const verdict = await verifyChain(tx)
      if (!verdict.isWhole)
        throw new Error(`the history is broken at revision ${verdict.brokenAt}: ${verdict.why}`)
      const { entries, head, stripped, folded } = verdict
      const there =
        hash &&
        (await tx
          .selectFrom('changes')
          .select('revision')
          .where((eb) => eb.or([eb('hash', '=', hash), eb('before_hash', '=', hash)]))
          .orderBy('revision')
          .limit(1)
          .executeTakeFirst())
      if (hash && !there)
        throw new Error(
          `the history has no entry with the hash ${hash}: it is no longer kept, or the history is another one`,
        )
      const found = there ? ` It has the entry of the export, revision ${there.revision}.` : ''
      process.stdout.write(
        `The history is whole: ${entries} entries up to revision ${head.revision}, head ${head.hash}.${wordsOfGone(stripped, folded)}${found}\n`,
      )
    })
  } finally {
    await db.destroy()
  }
}

/** What was let go to make room. */
function wordsOfGone(stripped: number, folded: number): string {
  const headers = stripped > 0 ? ` ${stripped} of these have lost their fields, to make room.` : ''
  const more = folded > 0 ? ` Of ${folded} more only the number is kept.` : ''
  return headers + more
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`postern: ${messageOf(error)}\n`)
  process.exitCode = exitCodeOf(error)
})
