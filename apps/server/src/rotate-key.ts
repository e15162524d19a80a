import { randomBytes } from 'node:crypto'
import { messageOf } from '@postern/host/errors'
import { exitCodeOf, readFlags } from '@postern/host/flags'
import { readConfig } from './config.ts'
import { removeCopies, rotateSecretKey } from './core/secrets/key-rotation.ts'
import { renewAllSecrets } from './core/secrets/renew-all.ts'
import { openSecrets } from './core/secrets/sealed-rows.ts'
import { openDatabase } from './db/open.ts'
import { observeNetwork } from './network.ts'

/** `npm run rotate-key`, and the package, run it as the server's user, while no server runs. */
async function main(): Promise<void> {
  const isAll = readFlags(['--all'], process.argv.slice(2)).has('--all')
  process.umask(0o077)
  const { database, secretKey } = readConfig(observeNetwork()).paths
  const db = openDatabase(database, false)
  try {
    if (isAll) {
      const secrets = await openSecrets(db, secretKey, true)
      await renewAllSecrets({ db, secrets, clock: Date.now, randomBytes })
    }
    const count = await rotateSecretKey(db, secretKey)
    const copies = removeCopies(database)
    const renewed = isAll ? ', and everything that the old one opened is renewed' : ''
    process.stdout.write(`${count} secrets are sealed with a new key${renewed}.\n`)
    if (copies > 0) process.stdout.write(`${copies} copies of the database from upgrades are removed.\n`)
  } finally {
    await db.destroy()
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`postern: ${messageOf(error)}\n`)
  process.exitCode = exitCodeOf(error)
})
