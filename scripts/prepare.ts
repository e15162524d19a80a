import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { prepareInstallation } from './lib/installation.ts'

/** Runs before server and edge in their units: creates users and the data directory as `npm start` does. */
await runCommand(async (args) => {
  readFlags([], args)
  await prepareInstallation(process.env)
  return 0
})
