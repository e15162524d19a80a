import { runCommand } from './lib/command.ts'
import { prepareInstallation } from './lib/installation.ts'

/** The step before server and edge in their units: users and data directory, as `npm start` makes them. */
await runCommand(async () => {
  await prepareInstallation(process.env)
  return 0
})
