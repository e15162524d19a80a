import type { TestServer } from '@postern/testkit/server'
import { createUpkeep } from '../src/core/figures/upkeep.ts'

/** Packs and sums counts once, as the server does each few minutes. */
export async function runUpkeep(server: TestServer, limits: { maxBytes?: number } = {}): Promise<void> {
  const { liveDb, log } = server.context
  const upkeep = createUpkeep({ liveDb, log, clock: () => server.now, ...limits })
  await upkeep.run()
  await upkeep.close()
}
