import { text } from 'node:stream/consumers'
import { messageOf } from '@postern/host/errors'
import { readFlags } from '@postern/host/flags'
import { readConfig } from './config.ts'
import { setNewPassword } from './core/accounts/new-password.ts'
import { openDatabase } from './db/open.ts'
import { observeNetwork } from './network.ts'

/**
 * `npm run password`, and the package, run it as the server's user, while no server runs. Standard input holds the
 * chosen password, or nothing.
 */
async function main(): Promise<void> {
  readFlags([], process.argv.slice(2))
  process.umask(0o077)
  const chosen = await text(process.stdin)
  const db = openDatabase(readConfig(observeNetwork()).paths.database, false)
  try {
    const account = await setNewPassword(db, chosen || null)
    if (!account) throw new Error('there is no account yet: the first start of the server makes it')
    const shown = chosen ? 'as given' : `${account.password}  (shown only now)`
    process.stdout.write(`  Username    ${account.username}\n  Password    ${shown}\n`)
  } finally {
    await db.destroy()
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`postern: ${messageOf(error)}\n`)
  process.exitCode = 1
})
