import { backup, DatabaseSync } from 'node:sqlite'

/** Some MB: between them the copy can be stopped. */
const PAGES_AT_ONCE = 1000
const WAIT_AT_MOST = 500

/**
 * Copies the database while it is in use. A connection of its own holds one snapshot, which a thread of Node copies:
 * nobody waits for it, and no change makes it begin again.
 * @param to an empty file, which keeps its mode
 * @param onSize told how many bytes there will be, before any is written; what it throws ends the copy
 */
export async function copyDatabase(
  from: string,
  to: string,
  { signal, onSize }: { signal: AbortSignal; onSize: (bytes: number) => Promise<void> },
): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: WAIT_AT_MOST })
  try {
    // The first statement takes the snapshot, and the transaction holds it.
    source.exec('BEGIN')
    await onSize(Number(source.prepare(SIZE).get()?.bytes))
    signal.throwIfAborted()
    await backup(source, to, { rate: PAGES_AT_ONCE, progress: () => signal.throwIfAborted() })
  } finally {
    source.close()
  }
}

const SIZE = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()'
