import { messageOf } from '@postern/host/errors'
import { readConfig } from './config.ts'
import { rotateSecretKey } from './core/secrets/key-rotation.ts'
import { openDatabase } from './db/open.ts'
import { observeNetwork } from './network.ts'

/** `npm run rotate-key`, and the package, run it as the server's user, while no server does. */
async function main(): Promise<void> {
  process.umask(0o077)
  const { database, secretKey } = readConfig(observeNetwork()).paths
  const db = openDatabase(database, false)
  try {
    const count = await rotateSecretKey(db, secretKey)
    process.stdout.write(`${count} secrets are sealed with a new key.\n`)
  } finally {
    await db.destroy()
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`postern: ${messageOf(error)}\n`)
  process.exitCode = 1
})
